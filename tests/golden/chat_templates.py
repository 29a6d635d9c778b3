"""Golden prompts of chat templates, rendered by transformers.

  chat_templates.py OUT.json              our own templates, which exercise the language: tests/text/fixtures/
  chat_templates.py --folder DIR OUT      every *.jinja of a folder with conversations of many shapes, as JSON lines;
                                          the prompts are in "expected"
  chat_templates.py --compare OUT ATTEND  renders the jobs of --folder with `ATTEND chat --render`, and counts the
                                          differences; a sample with --every N
"""
import copy
import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile

NOW = datetime.datetime(2026, 3, 7, 9, 5, 2)

# name -> template. All are rendered with MESSAGES, TOOLS and ARGUMENTS.
SNIPPETS = {
    "precedence": "{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 2 ** 3 ** 2 }} {{ -2 ** 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 'x' + 1 ~ 2 }} {{ 'a' ~ 1 * 2 ~ none }} {{ not true or true }} {{ not (true or true) }} {{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }} {{ 1 if false else 2 if false else 3 }} [{{ 1 if false }}]",
    "numbers": "{{ 1e3 }} {{ 1.50 }} {{ 1e16 }} {{ 1e-5 }} {{ 0.1 + 0.2 }} {{ 1_000 }} {{ 0x1f }} {{ 0b101 }} {{ 0o17 }} {{ 123456789012345.0 }} {{ 1.0 }} {{ -0.0 }} {{ 3.0 // 2 }} {{ -3.5 % 2 }} {{ 2 ** -1 }} {{ 10 / 5 }} {{ true + 1 }}",
    "strings": r"""{{ 'a\'b' }} {{ "tab\there" }} {{ '\\d \d' }} {{ '\x41\u00e9\U0001F600' }} {{ 'one' 'two' }} {{ 'é😀x'[1] }} {{ 'é😀x'[::-1] }} {{ 'héllo'[1:3] }} {{ 'abc' * 2 }} {{ 'a' in 'cat' }} {{ 'z' not in 'cat' }} {{ 'b' > 'a' }} {{ 'x' == "x" }}""",
    "printed": "{{ [1, 'a', none, true, 1.0, {'k': \"it's\"}, ('x',), ()] }} {{ {'a': [1, 2], 2: 'b', none: 1} }} {{ 'a\\nb' }} {{ ['a\\nb\\t\\'\"\\\\é\\u200b\\x07'] }} {{ none }} {{ true }} {{ 1, 2 }} {{ range(3) }} {{ {'a': 1}.items() }} {{ {'a': 1}.keys() }} {{ [{}.values()] }}",
    "attributes": "{{ d.a }} {{ d['a'] }} {{ d.b.c }} {{ d.list[0] }} {{ d.list.1 }} {{ d.list[-1] }} [{{ d.nothing }}] [{{ d.list[9] }}] {{ d.nothing is defined }} {{ d['items'] is defined }} {{ d.items is callable }} {{ nothing is defined }} {{ d.get('a') }} {{ d.get('q') }} {{ d.get('q', 5) }} {{ 'a' in d }} {{ d.append is defined }} {{ d.list.append is defined }} [{{ d.list.append }}]",
    "slices": "{{ n[1:] }} {{ n[:2] }} {{ n[-2:] }} {{ n[::2] }} {{ n[::-1] }} {{ n[3:0:-1] }} {{ n[10:] }} {{ n[-100:2] }} {{ (1,2,3)[1:] }} {{ 'abcdef'[1:-1] }} {{ 'abcdef'[-2:] }} {{ ''[1:] }} {{ n[:none] }} {{ n[4:1:-2] }}",
    "loops": "{% for x in n %}{{ loop.index }}/{{ loop.length }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 2) }}{{ loop.depth }};{% else %}none{% endfor %}{% for x in [] %}x{% else %}empty{% endfor %}{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }},{% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for c in 'añ' %}<{{ c }}>{% endfor %}{% for k in {'x': 1} %}{{ k }}{% endfor %}{% for x in nothing %}{% else %}undefined is empty{% endfor %}",
    "loop_filters": "{% for x in n if x is odd %}{{ x }}{{ loop.index }}{{ loop.length }}{{ loop.last }}{{ loop.nextitem }};{% endfor %}{% set ns = namespace(found=false) %}{% for x in n if not ns.found %}{{ x }}{% if x == 2 %}{% set ns.found = true %}{% endif %}{% endfor %}",
    "loop_controls": "{% for x in n %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}{% for x in [1] %}{% break %}{% else %}E{% endfor %}{% for x in [1, 2] %}{% continue %}{% else %}E{% endfor %}{% for x in n %}{% for y in n %}{% if y > x %}{% break %}{% endif %}{{ y }}{% endfor %}|{% endfor %}",
    "recursive": "{% for x in tree recursive %}{{ x.name }}{{ loop.depth }}{% if x.kids %}({{ loop(x.kids) }}){% endif %}{% endfor %}",
    "scopes": "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = x + 10 %}{{ x }} {% endfor %}{{ x }}{% if true %}{% set x = 5 %}{% endif %}{{ x }}{% set a, b = 1, 2 %}{{ a }}{{ b }}{% with y = 3, z = x %}{{ y }}{{ z }}{% set x = 9 %}{% endwith %}{{ x }}{{ y is defined }}{% set (p, q) = (1, [2]) %}{{ p }}{{ q }}",
    "namespaces": "{% set ns = namespace(a=1, b='x') %}{% for i in n %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}{{ ns.c is defined }}{{ ns['a'] }}{% set ns2 = namespace({'k': [1]}) %}{{ ns2.k }}{% set ns.text %}block {{ ns.a }}{% endset %}{{ ns.text }}",
    "set_blocks": "{% set x %}a{{ 1 }}\n b{% endset %}[{{ x }}]{% set y | upper | replace('B', 'C') %}abc{% endset %}{{ y }}{{ x is string }}",
    "macros": "{% macro m(a, b='B', c=a) %}{{ a }}{{ b }}{{ c }}{{ varargs }}{{ kwargs }};{% endmacro %}{{ m(1) }}{{ m(1, 2, 3, 4, z=5) }}{{ m(b=2, a=1) }}{% macro n2(x) %}[{{ x }}{{ x is defined }}]{% endmacro %}{{ n2() }}{{ n2('a') | upper }}{{ m.name }}{{ m.arguments }}{% macro rec(k) %}{{ k }}{% if k > 0 %}{{ rec(k - 1) }}{% endif %}{% endmacro %}{{ rec(3) }}{% set late = 'late' %}{% macro uses() %}{{ late }}{{ later }}{% endmacro %}{% set later = '!' %}{{ uses() }}",
    "calls": "{% macro box(t) %}<{{ t }}>{{ caller('x', y=2) }}</>{% endmacro %}{% call(a, y=1) box('T') %}in {{ a }}{{ y }}{% endcall %}{% macro plain() %}{{ caller is defined }}{{ caller() }}{% endmacro %}{% call plain() %}body{% endcall %}",
    "filter_blocks": "{% filter upper %}abc {{ 'def' }}{% endfilter %}{% filter replace('a', 'b') | trim %}  a a {% endfilter %}",
    "raw": "{% raw %}{{ not }} {% this %}{% endraw %}|\n  {%- raw -%}  x  {%- endraw -%}  |",
    "comments": "a{# comment {{ x }} #}b{#- x -#}  c\n{# line #}\nd {# x #} e",
    "whitespace": "  {% if true %}\n  a\n  {% endif %}\nb\n  {%- if true %}\n c {%- endif -%}\n\n d\n  {%+ if true %}x{% endif +%}\ny {{- ' z ' -}} \n w\n\t{% set q = 1 %}\n{{ q }}\n  {# c #}\nend\n\n",
    "trailing": "line\n{% if true %}\nx\n{% endif %}\n",
    "carriage": "a\r\nb\r{% if true %}\r\nc{% endif %}\r\n",
    "undefined": "[{{ nothing }}][{{ nothing | default('d') }}][{{ '' | default('d') }}][{{ '' | default('d', true) }}][{{ nothing | length }}][{{ nothing | list }}][{{ nothing | join }}][{{ nothing | upper }}][{{ nothing ~ 'x' }}]{{ nothing is none }}{{ nothing == none }}{{ nothing == other }}{{ not nothing }}{{ nothing is string }}{{ nothing is iterable }}{{ nothing is sequence }}{{ nothing is mapping }}{{ 'a' in nothing }}{{ nothing in [1] }}{{ nothing | first is defined }}{{ nothing or 'or' }}{{ (nothing and 1) is defined }}",
    "tests": "{{ 1 is integer }}{{ true is integer }}{{ 1.5 is float }}{{ 1 is number }}{{ true is number }}{{ true is boolean }}{{ 'a' is string }}{{ [] is sequence }}{{ {} is sequence }}{{ {} is mapping }}{{ 'a' is iterable }}{{ 5 is iterable }}{{ none is none }}{{ 3 is odd }}{{ 4 is even }}{{ 9 is divisibleby 3 }}{{ 9 is divisibleby(2) }}{{ 1 is eq 1 }}{{ 1 is equalto 2 }}{{ 1 is ne 2 }}{{ 1 is lt 2 }}{{ 1 is ge 2 }}{{ 2 is gt(1) }}{{ 1 is in [1] }}{{ 'a' is in 'abc' }}{{ 'ab' is lower }}{{ 'AB' is upper }}{{ 1 is true }}{{ true is true }}{{ false is false }}{{ 0 is false }}{{ 1 is not none }}{{ x is undefined }}{{ 1 is sameas 1 }}{{ 'upper' is filter }}{{ 'odd' is test }}{{ range is callable }}{{ 'a' is escaped }}{{ ('<'|escape) is escaped }}{{ {}.items() is iterable }}{{ (n|map('string')) is iterable }}{{ (n|map('string')) is sequence }}",
    "filters_text": "{{ ' a ' | trim }}|{{ 'xxaxx' | trim('x') }}|{{ 'hello world' | title }}|{{ \"it's a-b (c) [d] <e>\" | title }}|{{ 'hELLO' | capitalize }}|{{ 'aXb' | upper }}{{ 'aXb' | lower }}|{{ 'aaa' | replace('a', 'b', 2) }}|{{ 'ab' | replace('', '-') }}|{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb\n\nc' | indent(2, true, true) }}|{{ 'a\nb' | indent('> ', first=true) }}|{{ 'a' | center(5) }}|{{ '<a b=\"c\">&\\'' | escape }}|{{ '<b>x</b> &amp; y' | striptags }}|{{ 'a b c' | wordcount }}|{{ 'abcdefghij klm' | truncate(9) }}|{{ 'abcdefghij klm' | truncate(9, true, '…', 0) }}|{{ 'x y/z&é' | urlencode }}|{{ {'a b': 1, 'c': 'é'} | urlencode }}|{{ '%s and %05.2f' | format('x', 3.14159) }}|{{ 1500 | filesizeformat }}|{{ 1500 | filesizeformat(true) }}|{{ 'abc' | reverse }}|{{ 'the quick brown fox' | wordwrap(10) }}|{{ 5 | string + '!' }}|{{ 'a' | safe }}|{{ {'id': 'x', 'c': none, 'd<': '\"'} | xmlattr }}",
    "filters_lists": "{{ n | join(',') }}|{{ ['a', 1, none] | join }}|{{ [{'a': 1}, {'a': 2}] | join('-', attribute='a') }}|{{ n | first }}{{ n | last }}{{ n | length }}{{ n | count }}|{{ n | sum }}{{ [{'a': 1}] | sum('a', 10) }}|{{ n | min }}{{ n | max }}|{{ [3, 1, 2] | sort }}{{ [3, 1, 2] | sort(true) }}{{ ['b', 'A', 'c'] | sort }}{{ ['b', 'A', 'c'] | sort(case_sensitive=true) }}|{{ [{'x': 2, 'y': 1}, {'x': 1, 'y': 5}] | sort(attribute='x,y') }}|{{ n | reverse | list }}|{{ ['a', 'A', 'b', 'a'] | unique | list }}|{{ n | map('string') | join('+') }}|{{ [{'a': {'b': 1}}, {}] | map(attribute='a') | list }}|{{ [{'a': 1}, {}] | map(attribute='a', default=0) | list }}|{{ n | select('odd') | list }}{{ n | reject('odd') | list }}{{ [0, 1, '', 'x'] | select | list }}|{{ m | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }}{{ m | selectattr('name') | list | length }}{{ m | rejectattr('role', 'in', ['user', 'tool']) | map(attribute='role') | list }}|{{ n | batch(3, 0) | list }}{{ n | slice(2) | list }}|{% for g, items in m | groupby('role') %}{{ g }}{{ items | length }} {% endfor %}|{{ {'b': 1, 'A': 2} | dictsort }}{{ {'b': 1, 'A': 2} | dictsort(true) }}{{ {'b': 1, 'A': 2} | dictsort(by='value', reverse=true) }}|{{ {'a': 1} | items | list }}|{{ 'abc' | list }}{{ {'a': 1} | list }}{{ (1, 2) | list }}",
    "filters_numbers": "{{ '42' | int }}{{ ' 7 ' | int }}{{ 'x' | int }}{{ 'x' | int(5) }}{{ '0x1f' | int(base=16) }}{{ '3.9' | int }}{{ -3.9 | int }}{{ true | int }} {{ '1.5' | float }} {{ 'x' | float }} {{ 'x' | float(2) }} {{ 3 | float }} {{ -3 | abs }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 2.675 | round(2) }} {{ 7 | round }} {{ 1.23 | round(1, 'ceil') }} {{ 1.27 | round(1, 'floor') }} {{ 1e400 | string }} {{ 1234.5 | round(-2) }} {{ '1_000' | int }} {{ none | default(3) }}",
    "tojson": "{{ d | tojson }}\n{{ d | tojson(indent=2) }}\n{{ 'é\"\\\\\\n\\t\\x07\\x7f<>&\\u2028' | tojson }}\n{{ 'é😀\\x7f' | tojson(ensure_ascii=true) }}\n{{ {'b': 1, 'a': [1.0, none, true, 1e20, -0.5]} | tojson(sort_keys=true) }}\n{{ {'b': [], 'a': {}} | tojson(indent=4) }}\n{{ [1, 2] | tojson(separators=(',', ':')) }}\n{{ {'a': 1} | tojson(separators=(', ', ' = '), indent='--') }}\n{{ {1: 2, none: 3, true: 4, 1.5: 5} | tojson }}\n{{ (1, 'a') | tojson }}\n{{ [] | tojson(false, 1) }}",
    "methods": "{{ ' x '.strip() }}|{{ 'xxaxx'.strip('x') }}{{ 'abc'.lstrip('a') }}{{ 'abc'.rstrip('c') }}|{{ 'a,b,,c'.split(',') }}{{ ' a  b '.split() }}{{ 'a b c'.split(' ', 1) }}{{ 'a b c'.rsplit(' ', 1) }}{{ 'a b c'.split(maxsplit=1) }}{{ 'a\nb\r\nc'.splitlines() }}{{ 'x'.split('y')[-1] }}|{{ 'abc'.startswith('ab') }}{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.endswith('c') }}|{{ 'a-b'.replace('-', '+') }}{{ 'aaa'.replace('a', 'b', 1) }}|{{ 'aBc'.upper() }}{{ 'aBc'.lower() }}{{ \"they're bill's\".title() }}{{ 'hELLO wORLD'.capitalize() }}{{ 'aBc'.swapcase() }}|{{ 'hello'.find('l') }}{{ 'hello'.rfind('l') }}{{ 'hello'.find('z') }}{{ 'hello'.index('e') }}{{ 'hello'.count('l') }}|{{ '-'.join(['a', 'b']) }}|{{ '7'.zfill(3) }}{{ 'a'.center(4, '*') }}{{ 'a'.ljust(3) }}{{ 'a'.rjust(3, '.') }}|{{ 'a=b=c'.partition('=') }}{{ 'a=b=c'.rpartition('=') }}|{{ '12'.isdigit() }}{{ 'ab'.isalpha() }}{{ 'a1'.isalnum() }}{{ ' '.isspace() }}{{ 'A'.isupper() }}{{ 'a'.islower() }}|{{ 'prefix-x'.removeprefix('prefix-') }}{{ 'x.py'.removesuffix('.py') }}|{{ n.index(3) }}{{ n.count(2) }}|{{ d.keys() | list }}{{ d.values() | list | length }}{% for k, v in d.items() %}{{ k }}{% endfor %}|{{ 'ß'.upper() }}{{ 'ΑΣ'.lower() }}{{ 'ÀÉ'.lower() }}",
    "formats": "{{ '%s %d %i %5d|%-5d|%05d %x %X %o %e %g %.3f %c %% %r' % ('a', 1, 2.9, 3, 4, 5, 255, 255, 8, 12345.678, 0.0001, 2.71828, 'z', 'q') }} {{ '%(a)s' % {'a': 1} }} {{ '%s' % 'x' }} {{ '%s' % [1] }} {{ '%+d % d' % (1, 2) }} {{ '{} {1} {0}'.format('a', 'b') if false else '{1} {0}'.format('a', 'b') }} {{ '{}-{}'.format(1, none) }} {{ '{name:>6}|{x:.2f}|{y:05d}|{z:,}'.format(name='ab', x=3.14159, y=42, z=1234567) }} {{ '{0[a]} {0.a}'.format({'a': 1}) if false else '{0[a]}'.format({'a': 1}) }} {{ '{{}} {!r:*^7}'.format('q') }} {{ '{:<4}|{:^4}|{:>4}|{:x}|{:%}|{:e}|{:g}'.format('a', 'b', 'c', 255, 0.25, 1234.5, 0.1) }}",
    "safe": "{{ ('<b>' | escape) + '<i>' }} {{ '<i>' + ('<b>' | safe) }} {{ ('<b>' | safe) ~ '<i>' }} {{ ('<a>' | safe) | upper }} {{ ('<b>' | e) | replace('b', '<') }} {{ ['<', ('>' | safe)] | join('&') }} {{ '%s' | format('<') }}",
    "globals": "{{ dict(a=1, b=2) }} {{ dict({'x': 1}, y=2) }} {{ range(5) | list }} {{ range(2, 8, 3) | list }} {{ range(5, 0, -2) | list }}{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.current }}{% set j = joiner('|') %}{% for x in n %}{{ j() }}{{ x }}{% endfor %} {{ strftime_now('%Y-%m-%d %H:%M:%S %d %B %b') }}",
    "generation": "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}\n{% else %}{{ m.content }}{% endif %}{% endfor %}",
    "blocks": "{% block head %}H{{ messages | length }}{% endblock %}{% block b scoped %}{% endblock b %}{% print 1, 'a' %}",
    "iterators": "{% set it = n | select('odd') %}{{ it | first }}{{ it | list }}{{ it | list }}{% set r = n | reverse %}{% for x in r %}{{ x }}{% endfor %}{% for x in r %}{{ x }}{% endfor %}{{ (n | map('string') | list)[0] }}",
    "conversation": "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] | trim + ' [/INST]' }}{% elif message.role == 'assistant' %}{{ ' ' ~ message.content | trim ~ ' ' ~ eos_token }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}",
    "tools": "{%- if tools %}{{- '<tools>' }}{%- for tool in tools %}{{- '\\n' ~ tool | tojson }}{%- endfor %}{{- '\\n</tools>\\n' }}{%- endif %}{%- macro type(p) %}{%- if p.type is string %}{{ p.type }}{%- if p.type == 'array' %}<{{ type(p['items']) }}>{%- endif %}{%- elif p.type is iterable %}{{ p.type | join(' | ') }}{%- endif %}{%- endmacro %}{%- for t in tools %}{{ t.function.name }}({%- for k, v in t.function.parameters.properties | items %}{{ k }}: {{ type(v) }}{{ ', ' if not loop.last }}{%- endfor %}){%- endfor %}",
    # errors
    "error_attribute": "{{ nothing.x }}",
    "error_call": "{{ nothing() }}",
    "error_add": "{{ 'a' + 1 }}",
    "error_add_undefined": "{{ nothing + 'a' }}",
    "error_compare": "{{ 1 < 'a' }}",
    "error_iterate": "{% for x in 5 %}{% endfor %}",
    "error_none_attribute_call": "{{ none.upper() }}",
    "error_in_none": "{{ 'a' in none }}",
    "error_raise": "a{{ raise_exception('no good') }}",
    "error_append": "{{ n.append(1) }}",
    "error_update": "{{ d.update({}) }}",
    "error_tojson": "{{ nothing | tojson }}",
    "error_length": "{{ 5 | length }}",
    "error_generator_length": "{{ n | select | length }}",
    "error_namespace": "{% set d.x = 1 %}",
    "error_arguments": "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
    "error_keyword": "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}",
    "error_filter": "{{ 1 | nofilter }}",
    "error_test": "{{ 1 is notest }}",
    "error_tag": "{% do 1 %}",
    "error_include": "{% include 'x' %}",
    "error_unclosed": "{% if true %}",
    "error_unclosed_tag": "{{ 1 ",
    "error_end": "{% endif %}",
    "error_brackets": "{{ [1) }}",
    "error_range": "{{ range(1000000) }}",
    "error_unpack": "{% for a, b in [(1,)] %}{% endfor %}",
    "error_zero": "{{ 1 // 0 }}",
    "error_int_index": "{{ 'abc'[nothing] }}{{ [1]['x'].y }}",
    "error_class": "{{ ''.__class__.__mro__ }}",
    "error_dictsort": "{{ [1] | dictsort }}",
    "error_break": "{% break %}",
}
MESSAGES = [
    {"role": "user", "content": " Hello "},
    {"role": "assistant", "content": "Hi! 你好", "name": "Ann"},
    {"role": "user", "content": "How are you?"},
]
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The \"weather\" of a city, in °C",
          "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}}, "unit": {"type": ["string", "null"]}}, "required": ["city"]}}}]
ARGUMENTS = {
    "bos_token": "<s>", "eos_token": "</s>", "n": [1, 2, 3, 4], "m": MESSAGES + [{"role": "tool", "content": "x"}],
    "d": {"a": 1, "b": {"c": "é"}, "list": ["x", "y"]},
    "tree": [{"name": "a", "kids": [{"name": "b", "kids": []}, {"name": "c"}]}, {"name": "d"}],
}


# For --folder: conversations of many shapes, and what else the templates are given.
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Get the \"current\" weather <b>é</b> 中",
  "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "The city"}, "unit": {"type": "string", "enum": ["c", "f"]}, "days": {"type": "array", "items": {"type": "integer"}}, "deep": {"type": "object", "properties": {"a": {"type": "number", "default": 1.5}, "b": {"type": ["string", "null"]}}}}, "required": ["city"]}}}
TOOL2 = {"type": "function", "function": {"name": "stop", "description": "Stops", "parameters": {"type": "object", "properties": {}}}}
TOOL3 = {"type": "function", "function": {"name": "x", "description": "", "parameters": {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "boolean", "description": "N"}}, "required": ["q", "n"]}, "return": {"type": "string", "description": "r"}}}
def call(name, args, id="call_123456", **more): return {"id": id, "type": "function", "function": {"name": name, "arguments": args}, **more}
U = lambda c: {"role": "user", "content": c}
A = lambda c, **m: {"role": "assistant", "content": c, **m}
S = lambda c: {"role": "system", "content": c}
T = lambda c, **m: {"role": "tool", "content": c, **m}
parts = lambda *t: [{"type": "text", "text": x} for x in t]
CONV = {
 "user": [U("Hello!")],
 "system": [S("Be brief."), U("  Hi\n ")],
 "turns": [U("a"), A("b"), U("c"), A(" d "), U("e")],
 "system_turns": [S(" You are. "), U("Hi"), A("Hello!"), U("1+1?"), A("2"), U("ok 你好 \"q\" 'x' <tag> \\ end")],
 "ends_assistant": [U("Hi"), A("Hello")],
 "empty": [],
 "empty_content": [S(""), U(""), A(""), U("x")],
 "parts": [S("S"), {"role": "user", "content": parts("one", " two")}, A("x"), {"role": "user", "content": parts("three")}],
 "parts_all": [{"role": "system", "content": parts("sys")}, {"role": "user", "content": parts("one")}, {"role": "assistant", "content": parts("two")}, {"role": "user", "content": parts("three")}],
 "image": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "what?"}]}],
 "image_url": [{"role": "user", "content": [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": "http://x"}}]}],
 "media": [{"role": "user", "content": [{"type": "video", "video": "v.mp4"}, {"type": "audio", "audio": "a.wav"}, {"type": "text", "text": "t"}]}],
 "tool": [U("Weather?"), A(None, tool_calls=[call("get_weather", {"city": "Paris", "days": [1, 2], "deep": {"a": 1.0, "b": None, "c": True}})]), T("22", tool_call_id="call_123456", name="get_weather"), A("It is 22."), U("thanks")],
 "tool_open": [S("sys"), U("Weather?"), A("", tool_calls=[call("get_weather", {"city": "Paris"})]), T("{\"temp\": 22}", tool_call_id="call_123456", name="get_weather")],
 "tool_text": [U("Weather?"), A("Let me see.", tool_calls=[call("get_weather", {"city": "Rome \"x\""}), call("stop", {}, id="abcdefghi")]), T("22", tool_call_id="call_123456"), T("done", tool_call_id="abcdefghi"), U("?")],
 "tool9": [U("Weather?"), A("", tool_calls=[call("get_weather", {"city": "Rome"}, id="abcdefghi")]), T("22", tool_call_id="abcdefghi"), A("22!"), U("and?")],
 "tool_string": [U("Weather?"), A("", tool_calls=[call("get_weather", "{\"city\": \"Rome\"}", id="abcdefghi")]), T("22", tool_call_id="abcdefghi", name="get_weather")],
 "tool_no_content": [U("W?"), {"role": "assistant", "tool_calls": [call("stop", {})]}, T("ok")],
 "tool_dict": [U("W?"), A("", tool_calls=[call("stop", {"a": {"b": [1, {"c": "d"}]}, "e": 1.25, "f": False})]), T({"x": 1, "y": [1, 2]}, name="stop")],
 "tool_parts": [U("W?"), A("", tool_calls=[call("stop", {})]), T(parts("r1", "r2"), name="stop", tool_call_id="call_123456")],
 "reasoning": [U("q"), A("answer", reasoning_content="thinking hard"), U("again"), A("<think>\nhm\n</think>\n\nreply"), U("more")],
 "reasoning_tool": [U("q"), A("", reasoning_content="I should call", reasoning="r", thinking="t", tool_calls=[call("stop", {"a": 1})]), T("ok"), ],
 "thinking_part": [U("q"), {"role": "assistant", "content": [{"type": "thinking", "thinking": "T"}, {"type": "text", "text": "x"}]}, U("y")],
 "developer": [{"role": "developer", "content": "dev"}, U("hi")],
 "odd_role": [{"role": "critic", "content": "c"}, U("x")],
 "user_user": [U("a"), U("b")],
 "assistant_first": [A("hi"), U("x")],
 "no_content": [{"role": "user"}],
 "no_role": [{"content": "x"}],
 "number_content": [U(5)],
 "named": [{"role": "user", "content": "x", "name": "Bob"}, A("y", name="Al"), U("z")],
 "system_late": [U("a"), S("late"), U("b")],
 "two_systems": [S("1"), S("2"), U("b")],
 "call_block": [U("q"), A("", tool_calls=[{"name": "stop", "arguments": {"a": "b"}}]), T("ok")],
 "function_call": [U("q"), {"role": "assistant", "content": None, "function_call": {"name": "stop", "arguments": "{}"}}, {"role": "function", "name": "stop", "content": "ok"}],
 "think_prefix": [U("q"), A("</think>after"), U("r"), A("<think>x"), U("s")],
 "unicode": [U("👩‍👩‍👧 ña ß İ \u2028 \t|<|im_end|>"), A("naïve"), U("ok")],
 "effort": [U("hello /no_think"), A("a"), U("b /think")],
}
VARIANTS = [({}, {}), ({"tools": [TOOL]}, {}), ({"tools": [TOOL, TOOL2, TOOL3]}, {}), ({"tools": []}, {}),
  ({"tools": [TOOL["function"]]}, {}),
  ({}, {"bos_token": "<s>", "eos_token": "</s>"}), ({}, {"enable_thinking": False, "thinking": True, "reasoning_effort": "high", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}),
  ({"tools": [TOOL]}, {"enable_thinking": True, "thinking": False, "thinking_mode": "chat", "reasoning_effort": "low", "model_identity": "I", "preserve_thinking": True, "keep_past_thinking": True, "clear_thinking": False, "add_vision_id": True, "date_string": "1 Jan", "controls": {"length": "x"}, "builtin_tools": ["python"], "tools_in_user_message": False, "xml_tools": [TOOL], "python_tools": [TOOL], "citations": True}),
  ({"documents": [{"title": "T1", "text": "Some é text"}, {"title": "T2", "text": "More", "doc_id": 5}]}, {})]



def jobs(files):
    now = int(NOW.timestamp())
    for path in files:
        for name, conversation in CONV.items():
            for i, (given, arguments) in enumerate(VARIANTS):
                job = {"template": path, "messages": conversation, **given, "arguments": arguments, "now": now}
                for prompt in (True, False):
                    yield {**job, "generation_prompt": prompt, "what": f"{os.path.basename(path)} {name} {i} {prompt}"}
                if i == 0 and conversation:
                    yield {**job, "generation_prompt": False, "continue": True, "what": f"{os.path.basename(path)} {name} continue"}


def render(job):
    """What transformers makes of it: {"text": …} or {"error": …}."""
    from transformers.utils import chat_template_utils

    class Now(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return NOW

    chat_template_utils.datetime = Now
    source = job["source"] if "source" in job else open(job["template"], newline="").read()
    try:
        texts, _ = chat_template_utils.render_jinja_template(
            [copy.deepcopy(job["messages"])], tools=job.get("tools"), documents=job.get("documents"),
            chat_template=source, add_generation_prompt=job["generation_prompt"],
            continue_final_message=job.get("continue", False), **job.get("arguments", {}))
        return {"text": texts[0]}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def compare(path, program, every):
    counts = {"texts": 0, "errors": 0, "different": 0}
    with tempfile.TemporaryDirectory() as folder:
        for i, line in enumerate(open(path)):
            job = json.loads(line)
            if i % every or any(word in open(job["template"]).read() for word in ("strftime_now",)):
                continue
            command = [program, "chat", "--render", "--template", job["template"]]
            for key in ("messages", "tools"):
                if key in job:
                    json.dump(job[key], open(os.path.join(folder, key), "w"))
                    command += ["--" + key, os.path.join(folder, key)]
            arguments = {**({"documents": job["documents"]} if "documents" in job else {}), **job["arguments"]}
            command += ["--template-args", json.dumps(arguments)]
            command += [] if job["generation_prompt"] else ["--no-generation-prompt"]
            command += ["--continue-final-message"] if job.get("continue") else []
            done = subprocess.run(command, capture_output=True)
            expected = job["expected"].get("text")
            counts["errors" if expected is None else "texts"] += 1
            if done.stdout.decode() != (expected or "") or (done.returncode == 0) != (expected is not None):
                counts["different"] += 1
                print(job["what"], done.stdout[:200], done.stderr[-200:], job["expected"])
    print(counts)


def main():
    if sys.argv[1] == "--compare":
        compare(sys.argv[2], sys.argv[3], int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1)
        return
    if sys.argv[1] == "--folder":
        with open(sys.argv[3], "w") as out:
            for job in jobs(sorted(glob.glob(sys.argv[2] + "/*.jinja"))):
                out.write(json.dumps({**job, "expected": render(job)}) + "\n")
        return
    common = {"messages": MESSAGES, "tools": TOOLS, "arguments": ARGUMENTS, "generation_prompt": True}
    cases = {}
    for name, source in SNIPPETS.items():
        expected = render({**common, "source": source})
        if name.startswith("error_") != ("error" in expected):
            print(name, expected)
        cases[name] = {"template": source, **({"prompt": expected["text"]} if "text" in expected else {})}
    now = NOW.strftime("%Y-%m-%d %H:%M:%S")
    with open(sys.argv[1], "w") as out:
        json.dump({**common, "now": now, "cases": cases}, out, indent=1, ensure_ascii=False)
        out.write("\n")


main()
