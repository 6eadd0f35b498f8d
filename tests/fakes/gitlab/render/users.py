"""People as the API shows them."""

import hashlib
from datetime import datetime

from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.state import User, World


def moment(at: datetime | None) -> str | None:
    """Write a time as the API does, to the millisecond."""
    if at is None:
        return None
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def avatar(user: User) -> str:
    digest = hashlib.sha256(user.username.encode()).hexdigest()
    return f"https://secure.gravatar.com/avatar/{digest}?s=80&d=identicon"


def user_json(world: World, user: User) -> Json:
    """Return the short form, as it stands in threads and lists."""
    return {
        "id": user.id,
        "username": user.username,
        "public_email": None,
        "name": user.name,
        "state": user.state,
        "locked": False,
        "avatar_url": avatar(user),
        "web_url": f"{world.base_url}/{user.username}",
    }


def person_json(world: World, number: int | None) -> Json | None:
    return None if number is None else user_json(world, world.users[number])


def people_json(world: World, numbers: tuple[int, ...]) -> list[Json]:
    return [user_json(world, world.users[one]) for one in numbers]


def full_user_json(world: World, user: User) -> Json:
    """Return what anybody signed in may read of a person."""
    return {
        **user_json(world, user),
        "created_at": moment(user.created_at),
        "bio": "",
        "location": "",
        "linkedin": "",
        "twitter": "",
        "website_url": "",
        "job_title": "",
        "pronouns": None,
        "organization": "",
        "bot": user.is_bot,
        "work_information": None,
        "followers": 0,
        "following": 0,
        "is_followed": False,
        "local_time": None,
    }


def own_user_json(world: World, user: User) -> Json:
    """Return what people read of themselves."""
    at = moment(user.created_at)
    shown = {
        **full_user_json(world, user),
        "last_sign_in_at": at,
        "confirmed_at": at,
        "last_activity_on": None,
        "email": f"{user.username}@example.test",
        "theme_id": 1,
        "color_scheme_id": 1,
        "projects_limit": 100000,
        "current_sign_in_at": at,
        "identities": [],
        "can_create_group": not user.is_external,
        "can_create_project": not user.is_external,
        "two_factor_enabled": False,
        "external": user.is_external,
        "private_profile": False,
        "commit_email": f"{user.username}@example.test",
    }
    return shown | ({"is_admin": True} if user.is_admin else {})
