"""Illustrations over the buttons of the one-tap puzzles: what they are about, in a landscape."""

from __future__ import annotations

from random import Random

from pipeline.puzzles.backdrops import landscape
from pipeline.puzzles.scene import WIDTH

_TINTS = (("#2563eb", "#bfdbfe"), ("#0d9488", "#99f6e4"), ("#7c3aed", "#ddd6fe"), ("#db2777", "#fbcfe8"))
"""A colour, and a light one that goes with it."""

_DRAWN = {
    "oc_checkbox": (
        '<path fill="{main}" d="M160 14L194 26V56C194 80 178 94 160 101C142 94 126 80 126 56V26Z"/>'
        '<path fill="{light}" d="M160 24V90C148 85 136 74 136 56V32Z" fill-opacity="0.35"/>'
        '<path fill="none" stroke="#fff" stroke-width="8" stroke-linecap="round" stroke-linejoin="round" '
        'd="M145 57L156 69L177 44"/>'
    ),
    "oc_consent_login": (
        '<rect x="112" y="16" width="96" height="82" rx="10" fill="#fff" stroke="{main}" stroke-width="3"/>'
        '<circle cx="160" cy="42" r="13" fill="{main}"/><path fill="{main}" d="M134 76C134 52 186 52 186 76Z"/>'
        '<path stroke="{light}" stroke-width="6" stroke-linecap="round" d="M130 87H190"/>'
    ),
    "oc_hold": (
        '<circle cx="160" cy="46" r="34" fill="{light}" fill-opacity="0.6"/>'
        '<circle cx="160" cy="46" r="23" fill="{light}"/>'
        '<circle cx="160" cy="46" r="12" fill="{main}"/><path fill="#fde6d2" stroke="#8a5a3c" stroke-width="2" '
        'stroke-linejoin="round" d="M153 48a7 7 0 0 1 14 0V72l15 5q6 3 5 10l-3 17H148L134 84q-2-6 5-7l14 5Z"/>'
    ),
    "oc_decoys": (
        '<rect x="84" y="24" width="70" height="26" rx="8" fill="{light}"/>'
        '<rect x="166" y="24" width="70" height="26" rx="8" fill="{light}"/>'
        '<rect x="84" y="62" width="70" height="26" rx="8" fill="{light}"/>'
        '<rect x="166" y="62" width="70" height="26" rx="8" fill="{light}"/>'
        '<path fill="#1f2937" stroke="#fff" stroke-width="2" d="M150 42L174 64L163 65L169 76L162 79'
        'L157 68L150 75Z"/>'
    ),
    "oc_wait": (
        '<path fill="{main}" d="M128 12H192V20H128ZM128 94H192V102H128Z"/>'
        '<path fill="#fff" stroke="{main}" stroke-width="3" d="M134 20H186V28C186 44 168 50 168 57C168 64 186 70'
        ' 186 86V94H134V86C134 70 152 64 152 57C152 50 134 44 134 28Z"/>'
        '<path fill="{light}" d="M141 36H179C174 46 163 50 163 57H157C157 50 146 46 141 36ZM138 91C140 78 152 74 160 72'
        'C168 74 180 78 182 91Z"/>'
    ),
    "oc_resend": (
        '<rect x="132" y="8" width="56" height="98" rx="10" fill="#1f2937"/>'
        '<rect x="137" y="18" width="46" height="76" rx="3" fill="#fff"/><circle cx="160" cy="100" r="3" fill="#fff"/>'
        '<path fill="{light}" d="M142 30H178V50H156L148 58V50H142Z"/>'
        '<g fill="{main}"><circle cx="149" cy="40" r="2.6"/><circle cx="157" cy="40" r="2.6"/>'
        '<circle cx="165" cy="40" r="2.6"/><circle cx="173" cy="40" r="2.6"/>'
        '<rect x="145" y="70" width="30" height="10" rx="5"/></g>'
    ),
}


def picture(name: str, variant: int, height: float) -> str:
    """The illustration of a type, in the colours of a variant."""
    rng = Random(f"picture {variant}")
    main, light = rng.choice(_TINTS)
    veil = f'<rect width="{WIDTH:g}" height="{height:g}" fill="#fff" fill-opacity="0.55"/>'
    drawn = _DRAWN[name].format(main=main, light=light)
    disc = f'<ellipse cx="160" cy="57" rx="{rng.randint(96, 130)}" ry="52" fill="#fff" fill-opacity="0.75"/>'
    return landscape(variant, height) + veil + disc + drawn
