"""A shop: products, a cart with coupons, a checkout with addresses, orders. Nothing is ever paid or delivered.

Prices are in cents of the shop's currency.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pipeline.handset.apps.acts import keep, removing
from pipeline.handset.apps.app import App, Asked, Done, Shown
from pipeline.handset.database import Row
from pipeline.handset.packages import Package

_SORTS = {
    "popular": "sold DESC, _id",
    "price": "price, _id",
    "price_down": "price DESC, _id",
    "rating": "rating DESC, _id",
}
_PAYMENTS = ("card", "cash", "wallet")
_DELIVERIES = {"standard": 390, "express": 990, "pickup": 0}
_FREE_FROM = 5000
_ADDRESS = ("name", "phone", "street", "city")
_MOST = 9


class Sums(NamedTuple):
    """What a cart comes to, in cents."""

    goods: int
    discount: int
    delivery: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.goods - self.discount + self.delivery


def _home(asked: Asked) -> Shown:
    words, category = asked.field("q"), asked.field("category")
    sort = asked.field("sort") if asked.field("sort") in _SORTS else "popular"
    products = asked.data.rows(
        "SELECT * FROM products WHERE (? = '' OR category = ?)"
        f" AND (name LIKE '%' || ? || '%' OR description LIKE '%' || ? || '%') ORDER BY {_SORTS[sort]}",
        category,
        category,
        words,
        words,
    )
    categories = [
        row["category"] for row in asked.data.rows("SELECT DISTINCT category FROM products ORDER BY category")
    ]
    values = {"products": products, "categories": categories, "category": category, "sort": sort, "sorts": [*_SORTS]}
    return Shown("home.html", {**values, "q": words, "count": _count(asked)})


def _product(asked: Asked) -> Shown:
    product = asked.data.row(
        "SELECT p.*, EXISTS (SELECT 1 FROM favourites f WHERE f.product_id = p._id) AS favourite"
        " FROM products p WHERE _id = ?",
        asked.id,
    )
    return Shown("product.html", {"product": product, "count": _count(asked)})


def _favourites(asked: Asked) -> Shown:
    query = "SELECT p.* FROM products p JOIN favourites f ON f.product_id = p._id ORDER BY f._id"
    return Shown("favourites.html", {"products": asked.data.rows(query), "count": _count(asked)})


def _cart(asked: Asked) -> Shown:
    coupon = asked.data.row("SELECT * FROM coupons WHERE applied = 1")
    return Shown(
        "cart.html", {"lines": _lines(asked), "sums": _sums(asked, None), "coupon": coupon, "count": _count(asked)}
    )


def _checkout(asked: Asked) -> Shown:
    chosen = _choice(asked)
    values = {
        "lines": _lines(asked),
        "sums": _sums(asked, chosen["delivery"]),
        "addresses": asked.data.rows("SELECT * FROM addresses ORDER BY is_default DESC, _id"),
        "payments": _PAYMENTS,
        "deliveries": {key: _delivery(asked, key) for key in _DELIVERIES},
        "chosen": chosen,
    }
    return Shown("checkout.html", values)


def _orders(asked: Asked) -> Shown:
    orders = asked.data.rows(
        "SELECT o.*, (SELECT sum(quantity) FROM order_items i WHERE i.order_id = o._id) AS pieces"
        " FROM orders o ORDER BY _id DESC"
    )
    return Shown("orders.html", {"orders": orders, "count": _count(asked)})


def _order(asked: Asked) -> Shown:
    order = asked.data.row("SELECT * FROM orders WHERE _id = ?", asked.id)
    query = (
        "SELECT i.*, p.name, p.picture FROM order_items i JOIN products p ON p._id = i.product_id WHERE order_id = ?"
    )
    return Shown("order.html", {"order": order, "lines": asked.data.rows(query, asked.id), "new": asked.field("new")})


def _addresses(asked: Asked) -> Shown:
    return Shown("addresses.html", {"addresses": asked.data.rows("SELECT * FROM addresses ORDER BY _id")})


def _address(asked: Asked) -> Shown:
    address = asked.data.row("SELECT * FROM addresses WHERE _id = ?", asked.id)
    return Shown("address.html", {"address": address or {"_id": 0, "is_default": 0, **dict.fromkeys(_ADDRESS, "")}})


def _add(asked: Asked) -> Done:
    product = asked.data.row("SELECT * FROM products WHERE _id = ?", asked.id)
    quantity = max(asked.number("quantity", 1), 1)
    if product is None or product["stock"] == 0:
        return Done(problem=asked.text("sold_out"))
    held = asked.data.row("SELECT quantity FROM cart WHERE product_id = ?", asked.id)
    wanted = min(quantity + (held["quantity"] if held else 0), _MOST, product["stock"])
    _put(asked, asked.id, wanted)
    return Done()


def _quantity(asked: Asked) -> Done:
    held = asked.data.row(
        "SELECT quantity, stock FROM cart JOIN products ON products._id = product_id WHERE product_id = ?", asked.id
    )
    if held is not None:
        _put(asked, asked.id, min(held["quantity"] + asked.number("by"), _MOST, held["stock"]))
    return Done()


def _remove(asked: Asked) -> Done:
    _put(asked, asked.id, 0)
    return Done()


def _empty(asked: Asked) -> Done:
    asked.data.run("DELETE FROM cart")
    return Done()


def _like(asked: Asked) -> Done:
    if asked.data.row("SELECT 1 FROM favourites WHERE product_id = ?", asked.id):
        asked.data.run("DELETE FROM favourites WHERE product_id = ?", asked.id)
    else:
        asked.data.insert("favourites", {"product_id": asked.id})
    return Done()


def _coupon(asked: Asked) -> Done:
    code = asked.field("code").upper()
    coupon = asked.data.row("SELECT * FROM coupons WHERE code = ?", code)
    if coupon is None:
        return Done(problem=asked.text("coupon_unknown"))
    if _sums(asked, None).goods < coupon["least"]:
        return Done(problem=asked.text("coupon_least", amount=f"{coupon['least'] / 100:.2f}"))
    asked.data.run("UPDATE coupons SET applied = (code = ?)", code)
    return Done()


def _drop_coupon(asked: Asked) -> Done:
    asked.data.run("UPDATE coupons SET applied = 0")
    return Done()


def _choose(asked: Asked) -> Done:
    """A choice on the checkout's screen, kept until the order is placed."""
    chosen = _choice(asked)
    fields = {name: asked.given.get(name, chosen[name]) for name in ("address_id", "delivery", "payment")}
    if fields["delivery"] in _DELIVERIES and fields["payment"] in _PAYMENTS:
        asked.data.run("DELETE FROM checkout")
        asked.data.insert("checkout", {**fields, "address_id": int(fields["address_id"])})
    return Done()


def _place(asked: Asked) -> Done:
    lines, chosen = _lines(asked), _choice(asked)
    address = asked.data.row("SELECT * FROM addresses WHERE _id = ?", chosen["address_id"])
    if not lines or address is None:
        return Done(problem=asked.text("address_missing" if lines else "cart_empty"))
    sums = _sums(asked, chosen["delivery"])
    coupon = asked.data.row("SELECT code FROM coupons WHERE applied = 1")
    number = asked.data.insert(
        "orders",
        {
            "placed": asked.clock.text,
            "status": "placed",
            "total": sums.total,
            "discount": sums.discount,
            "delivery": chosen["delivery"],
            "payment": chosen["payment"],
            "coupon": coupon["code"] if coupon else "",
            "recipient": address["name"],
            "address": f"{address['street']}, {address['city']}",
            "note": asked.field("note"),
        },
    )
    for line in lines:
        item = {"product_id": line["_id"], "quantity": line["quantity"], "price": line["price"]}
        asked.data.insert("order_items", {"order_id": number, **item})
    for statement in ("DELETE FROM cart", "DELETE FROM checkout", "UPDATE coupons SET applied = 0"):
        asked.data.run(statement)
    return Done("go", f"order?id={number}&new=1")


def _cancel(asked: Asked) -> Done:
    asked.data.run("UPDATE orders SET status = 'cancelled' WHERE _id = ? AND status = 'placed'", asked.id)
    return Done()


def _again(asked: Asked) -> Done:
    for line in asked.data.rows("SELECT product_id, quantity FROM order_items WHERE order_id = ?", asked.id):
        _put(asked, line["product_id"], line["quantity"])
    return Done("go", "cart")


def _save_address(asked: Asked) -> Done:
    fields: dict[str, Any] = {name: asked.field(name) for name in _ADDRESS}
    if not all(fields.values()):
        return Done(problem=asked.text("address_incomplete"))
    number = keep(asked, "addresses", fields)
    if "is_default" in asked.given:
        asked.data.run("UPDATE addresses SET is_default = (_id = ?)", number)
    return Done("back")


def _put(asked: Asked, product: int, quantity: int) -> None:
    """So many of a product are in the cart from now on."""
    if quantity <= 0:
        asked.data.run("DELETE FROM cart WHERE product_id = ?", product)
    elif asked.data.row("SELECT 1 FROM cart WHERE product_id = ?", product):
        asked.data.run("UPDATE cart SET quantity = ? WHERE product_id = ?", quantity, product)
    else:
        asked.data.insert("cart", {"product_id": product, "quantity": quantity})


def _lines(asked: Asked) -> list[Row]:
    return asked.data.rows("SELECT p.*, c.quantity FROM cart c JOIN products p ON p._id = c.product_id ORDER BY c._id")


def _count(asked: Asked) -> int:
    return sum(line["quantity"] for line in _lines(asked))


def _choice(asked: Asked) -> Row:
    """What is chosen on the checkout's screen, or what it begins with."""
    first = asked.data.row("SELECT _id FROM addresses ORDER BY is_default DESC, _id")
    begin = {"address_id": first["_id"] if first else 0, "delivery": "standard", "payment": "card"}
    return asked.data.row("SELECT * FROM checkout") or begin


def _sums(asked: Asked, delivery: str | None) -> Sums:
    goods = sum(line["price"] * line["quantity"] for line in _lines(asked))
    coupon = asked.data.row("SELECT * FROM coupons WHERE applied = 1")
    percent = coupon["percent"] if coupon and goods >= coupon["least"] else 0
    return Sums(goods, goods * percent // 100, _delivery(asked, delivery) if delivery else 0)


def _delivery(asked: Asked, key: str) -> int:
    """What a delivery costs for what is in the cart."""
    goods = sum(line["price"] * line["quantity"] for line in _lines(asked))
    return 0 if key == "standard" and goods >= _FREE_FROM else _DELIVERIES[key]


SHOP = App(
    Package("org.pathproof.shop", "builtin", {"en": "Shop", "zh": "商城"}, colour="#d2452f", icon="bag"),
    tables=("products", "cart", "favourites", "coupons", "addresses", "checkout", "orders", "order_items"),
    screens={
        "": _home,
        "address": _address,
        "addresses": _addresses,
        "cart": _cart,
        "checkout": _checkout,
        "favourites": _favourites,
        "order": _order,
        "orders": _orders,
        "product": _product,
    },
    acts={
        "add": _add,
        "again": _again,
        "cancel": _cancel,
        "choose": _choose,
        "coupon": _coupon,
        "delete_address": removing("addresses"),
        "drop_coupon": _drop_coupon,
        "empty": _empty,
        "like": _like,
        "place": _place,
        "quantity": _quantity,
        "remove": _remove,
        "save_address": _save_address,
    },
)
