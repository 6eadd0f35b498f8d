"""People of other services, and what links them to a forge."""

from dataclasses import dataclass

from pydantic import SecretStr

from patchwright.core.system.crypto import KeyRing
from patchwright.core.types.base import AccountId, JobId, RandomIds
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.workers.store.account_links import (
    Linker,
    LinkRequest,
    LinkStore,
    digest_of,
)
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.identity_tokens import IdentityTokens, Renew
from patchwright.workers.store.secrets import SecretStore
from tests.adapters.store.world import World, trigger

API = "https://api.github.test"
JO = Actor(service="slack", login="jo", external_id="U1", host="T1")
GRANT = PersonalToken(access_token=SecretStr("ghu_planted"))
BROWSER = "browser"


def never_renew(_: SecretStr) -> PersonalToken:
    raise AssertionError("nothing was due")


@dataclass(frozen=True)
class Linking:
    world: World
    links: LinkStore
    linker: Linker

    @property
    def accounts(self) -> AccountStore:
        return self.linker.accounts

    @property
    def tokens(self) -> IdentityTokens:
        return self.linker.tokens

    def arrive(
        self, person: Actor, actor: Actor = JO, grant: PersonalToken = GRANT
    ) -> str:
        """Let the actor come as far as the question; return the link's digest."""
        token = self.links.invite(actor)
        assert token is not None
        digest = digest_of(token)
        assert self.links.begin(digest, BROWSER, "state")
        assert self.linker.prove(self.request(digest), BROWSER, person, grant)
        return digest

    def request(self, digest: str) -> LinkRequest:
        request = self.links.find(digest)
        assert request is not None
        return request

    def confirm(
        self, digest: str, person: Actor, browser: str = BROWSER
    ) -> tuple[JobId, ...] | None:
        return self.linker.confirm(self.request(digest), browser, person)

    def link(
        self, person: Actor, actor: Actor = JO, grant: PersonalToken = GRANT
    ) -> AccountId:
        assert self.confirm(self.arrive(person, actor, grant), person) is not None
        return self.accounts.account_of(person, API)

    def person_of(self, actor: Actor = JO) -> Actor | None:
        return self.accounts.person_of(actor, "github", API)

    def ask(self, actor: Actor = JO, thread: str = "1.1") -> JobId:
        """Let the actor ask for something that waits for a person then."""
        place = TalkThread(
            service=actor.service, place="T1/C1", kind=ThreadKind.CHAT, id=thread
        )
        asked = trigger(thread).replace(actor=actor, thread=place)
        job_id = self.world.deliver(asked).job_id
        assert job_id is not None
        assert not self.world.outcomes.wait(self.world.claim(job_id))
        return job_id


def open_linking(world: World, renew: Renew = never_renew) -> Linking:
    secrets = SecretStore(world.database, KeyRing({"k": bytes(32)}, "k"), world.clock)
    tokens = IdentityTokens(
        world.database, secrets, renew, world.clock, service="github", host=API
    )
    accounts = AccountStore(world.database, RandomIds(), world.clock)
    return Linking(
        world,
        LinkStore(world.database, world.clock),
        Linker(world.database, accounts, tokens, secrets, world.clock, API),
    )
