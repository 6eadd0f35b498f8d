import unittest

from shop.cart import Line, total


class TotalTest(unittest.TestCase):
    def test_nothing_costs_nothing(self) -> None:
        self.assertEqual(total([]), 0)

    def test_discount_is_taken_off(self) -> None:
        self.assertEqual(total([Line("tea", 1000)], discount_percent=10), 900)


if __name__ == "__main__":
    unittest.main()
