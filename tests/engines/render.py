"""Renders compiled documents with the engines of Python.

    python render.py CASES.json > RESULTS.json
"""

import datetime
import json
import sys

import chevron
import django
import django.template
import jinja2
from django.template import Context, Engine
from liquid import Environment as Liquid


def with_dates(value, paths, prefix=""):
    """Data in which the dates are dates, for engines whose filters take no text."""
    if isinstance(value, dict):
        return {key: with_dates(one, paths, f"{prefix}{key}.") for key, one in value.items()}
    if isinstance(value, list):
        return [with_dates(one, paths, prefix) for one in value]
    if prefix.rstrip(".") in paths and isinstance(value, str) and value:
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value


def engines():
    escaping = jinja2.Environment(autoescape=True)
    plain = jinja2.Environment(autoescape=False)
    from django.conf import settings

    settings.configure(USE_TZ=True, TIME_ZONE="UTC")
    django.setup()
    django_engine = Engine(autoescape=True)
    # Klaviyo's own tag.
    own = django.template.Library()
    own.simple_tag(lambda context: context["unsubscribe_url"], takes_context=True, name="unsubscribe_link")
    django_engine.template_builtins.append(own)
    liquid = Liquid()
    liquid_escaping = Liquid(autoescape=True)
    return [
        ("jinja2, autoescape on", "jinja2", True, lambda text, data: escaping.from_string(text).render(**data)),
        ("jinja2, autoescape off", "jinja2", True, lambda text, data: plain.from_string(text).render(**data)),
        ("django", "klaviyo", True, lambda text, data: django_engine.from_string(text).render(Context(data))),
        ("python-liquid", "liquid", False, lambda text, data: liquid.from_string(text).render(**data)),
        ("python-liquid, escaping", "liquid, escaping", False, lambda text, data: liquid_escaping.from_string(text).render(**data)),
        ("chevron", "mustache", False, lambda text, data: chevron.render(text, data)),
    ]


def main():
    cases = json.load(open(sys.argv[1], encoding="utf-8"))
    results = []
    for name, dialect, dates, render in engines():
        for case in cases:
            if case["dialect"] != dialect:
                continue
            data = with_dates(case["data"], set(case["dates"])) if dates else case["data"]
            result = {"engine": name, "id": case["id"]}
            try:
                result["output"] = render(case["code"], data)
            except Exception as error:  # noqa: BLE001 - the driver tells of it
                result["error"] = f"{type(error).__name__}: {error}"
            results.append(result)
    json.dump(results, sys.stdout)


main()
