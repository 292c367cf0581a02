"""Reduces the data of caniemail to what the compatibility lint looks at.

    python3 reduce.py FEATURES.json > caniemail.tsv

FEATURES.json has one entry a feature with its latest tested support by client and platform. The
first line of the result names the clients; every other line is a feature: its slug, its title, how
it is detected, and one letter a client (y, a, n, u, or - where it was never tested).
"""

import json
import sys

SPECIAL = {
    "amp": "attribute amp4email",
    "bimi": "none",
    "css-at-media-device-pixel-ratio": "media device-pixel-ratio",
    "css-at-media-hover": "media hover",
    "css-at-media-orientation": "media orientation",
    "css-at-media-prefers-color-scheme": "media prefers-color-scheme",
    "css-at-media-prefers-reduced-motion": "media prefers-reduced-motion",
    "css-block-inline-size": "property block-size",
    "css-border-image": "property border-image",
    "css-border-inline-block-individual": "property border-inline-start border-inline-end border-block-start border-block-end",
    "css-border-inline-block-longhand": "property border-inline-width border-inline-color border-inline-style border-block-width border-block-color border-block-style",
    "css-border-inline-block": "property border-inline border-block",
    "css-border-radius-logical": "property border-start-start-radius border-start-end-radius border-end-start-radius border-end-end-radius",
    "css-border-radius": "property border-radius border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius",
    "css-border": "property border border-top border-right border-bottom border-left border-width border-style border-color",
    "css-color-scheme": "property color-scheme",
    "css-column-layout-properties": "property columns column-fill column-rule column-span column-width",
    "css-comments": "comment",
    "css-conic-gradient": "function conic-gradient",
    "css-display-flex": "value display flex",
    "css-display-grid": "value display grid",
    "css-display-none": "value display none",
    "css-flex-direction": "value flex-direction column",
    "css-flex-wrap": "value flex-wrap wrap",
    "css-gap": "property gap column-gap row-gap",
    "css-grid-template": "property grid-template grid-template-areas grid-template-columns grid-template-rows",
    "css-important": "important",
    "css-inert-attribute": "attribute inert",
    "css-intrinsic-size": "word fit-content min-content max-content",
    "css-left-right-top-bottom": "property left right top bottom",
    "css-linear-gradient": "function linear-gradient",
    "css-radial-gradient": "function radial-gradient",
    "css-margin-block-start-end": "property margin-block-start margin-block-end",
    "css-margin-inline-block": "property margin-inline margin-block",
    "css-margin-inline-start-end": "property margin-inline-start margin-inline-end",
    "css-margin": "property margin margin-top margin-right margin-bottom margin-left",
    "css-modern-color": "function lch oklch lab oklab",
    "css-nesting": "none",
    "css-padding-block-start-end": "property padding-block-start padding-block-end",
    "css-padding-inline-block": "property padding-inline padding-block",
    "css-padding-inline-start-end": "property padding-inline-start padding-inline-end",
    "css-padding": "property padding padding-top padding-right padding-bottom padding-left",
    "css-rgb": "function rgb",
    "css-rgba": "function rgba",
    "css-scroll-snap": "property scroll-snap-type scroll-snap-align",
    "css-sytem-ui": "word system-ui ui-serif ui-sans-serif ui-rounded ui-monospace",
    "css-unit-calc": "function calc",
    "css-unit-initial": "word initial",
    "css-unit-percent": "unit %",
    "css-function-light-dark": "function light-dark",
    "css-variables": "function var",
    "css-pseudo-class-lang": "pseudo :lang",
    "html-anchor-links": "anchor",
    "html-background": "attribute background",
    "html-button-reset": "typed button reset",
    "html-button-submit": "typed button submit",
    "html-comments": "none",
    "html-doctype": "doctype",
    "html-h1-h6": "element h1 h2 h3 h4 h5 h6",
    "html-image-maps": "element map",
    "html-lists": "element ul ol dl",
    "html-mailto-links": "mailto",
    "html-meta-color-scheme": "meta color-scheme",
    "html-semantics": "element article aside details figcaption figure footer header main mark nav section summary time",
    "html-srcset": "attribute srcset sizes",
    "html-loading-attribute": "attribute loading",
    "image-base64": "image data:",
    "image-jpg": "image .jpg .jpeg",
    "image-tiff": "image .tif .tiff",
    "image-heif": "image .heif .heic",
    "image-hdr": "none",
    "image-apng": "image .apng",
}
ATTRIBUTES = {
    "align", "aria-describedby", "aria-hidden", "aria-label", "aria-labelledby", "aria-live", "cellpadding",
    "cellspacing", "dir", "height", "hidden", "lang", "popover", "required", "role", "target", "valign", "width",
}
SELECTORS = {
    "adjacent-sibling": "+", "attribute": "[", "child": ">", "class": ".", "general-sibling": "~", "id": "#",
    "universal": "*", "chaining": "chain", "descendant": "descendant", "grouping": ",", "type": "type",
}


def detector(slug):
    if slug in SPECIAL:
        return SPECIAL[slug]
    kind, _, rest = slug.partition("-")
    if kind == "css":
        for prefix, word in (
            ("at-", "at "), ("pseudo-class-", "pseudo :"), ("pseudo-element-", "pseudo ::"), ("unit-", "unit "),
            ("function-", "function "),
        ):
            if rest.startswith(prefix):
                return word + rest[len(prefix):]
        if rest.startswith("selector-"):
            return "selector " + SELECTORS[rest[len("selector-"):]]
        return "property " + rest
    if kind == "html":
        if rest.startswith("input-"):
            return "typed input " + rest[len("input-"):]
        return ("attribute " if rest in ATTRIBUTES else "element ") + rest
    return "image ." + rest


def main():
    data = json.load(open(sys.argv[1], encoding="utf-8"))
    clients = sorted({client for feature in data["features"] for client in feature["support"]})
    print(f"# {data['source']} at {data['commit']}, {data['licence']}; see caniemail-LICENSE.txt")
    print("\t".join(["clients", *clients]))
    for feature in data["features"]:
        letters = "".join(feature["support"].get(client, "-")[0] for client in clients)
        print("\t".join([feature["slug"], feature["title"].strip(), detector(feature["slug"]), letters]))


main()
