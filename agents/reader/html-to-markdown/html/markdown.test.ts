import type { Nodes, Root } from 'mdast'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { describe, expect, test } from 'vitest'
import type { ReadingOptions } from '../extract-page.ts'
import { extractPage } from '../extract-page.ts'

const base = 'https://example.com/a/b.html'
const read = (html: string, manner: Partial<ReadingOptions> = {}, head = '') =>
  extractPage({
    html: `<html><head>${head}</head><body><main>${html}</main></body></html>`,
    url: base,
    format: 'markdown',
    mode: 'full',
    ...manner,
  }).content

/**
 * The nodes that Markdown parses to, in short form: `paragraph(text link(text))`, with the properties that distinguish
 * nodes.
 */
function shape(markdown: string): string {
  const root: Root = unified().use(remarkParse).use(remarkGfm).parse(markdown)
  return root.children.map(written).join(' ')
}

function written(node: Nodes): string {
  const inner = 'children' in node ? node.children.map(written).join(' ') : ''
  switch (node.type) {
    case 'text':
      return JSON.stringify(node.value)
    case 'inlineCode':
    case 'html':
      return `${node.type}:${JSON.stringify(node.value)}`
    case 'code':
      return `code:${node.lang ?? ''}:${JSON.stringify(node.value)}`
    case 'heading':
      return `h${node.depth}(${inner})`
    case 'link':
      return `link:${node.url}(${inner})`
    case 'image':
      return `image:${node.url}:${node.alt}`
    case 'list':
      return `${node.ordered ? `ol:${node.start}` : 'ul'}(${inner})`
    case 'listItem':
      return `li${node.checked === null ? '' : node.checked ? ':x' : ':o'}(${inner})`
    case 'table':
      return `table:${node.align?.map((align) => align ?? '-').join()}(${inner})`
    case 'tableRow':
      return `row(${inner})`
    case 'tableCell':
      return `cell(${inner})`
    case 'footnoteReference':
      return `note:${node.identifier}`
    case 'footnoteDefinition':
      return `noted:${node.identifier}(${inner})`
    case 'paragraph':
      return `p(${inner})`
    case 'break':
    case 'thematicBreak':
      return node.type
    default:
      return `${node.type}(${inner})`
  }
}

/** A feature, HTML with the feature, the expected Markdown, and the nodes that this Markdown parses to. */
const features: readonly (readonly [feature: string, html: string, markdown: string, shape: string])[] = [
  [
    'headings of six depths',
    '<h1>A</h1><h2>B</h2><h6>F</h6>',
    '# A\n\n## B\n\n###### F',
    'h1("A") h2("B") h6("F")',
  ],
  [
    'headings without the mark that leads to them',
    '<h2 id="x">Title <a class="headerlink" href="#x">¶</a></h2>',
    '## Title',
    'h2("Title")',
  ],
  ['headings that are links to themselves', '<h2><a href="#y">Sub</a></h2>', '## Sub', 'h2("Sub")'],
  [
    'empty headings, items, paragraphs and emphasis as nothing',
    '<h2> </h2><ul><li></li><li>a</li></ul><p></p><p>x <b></b><i> </i>y</p>',
    '- a\n\nx y',
    'ul(li(p("a"))) p("x y")',
  ],
  [
    'paragraphs made by line breaks',
    '<p>one<br><br>two<br>three</p>',
    'one\n\ntwo\\\nthree',
    'p("one") p("two" break "three")',
  ],
  ['divisions split by line breaks', '<div>a<br> <br>b</div>', 'a\n\nb', 'p("a") p("b")'],
  [
    'emphasis beside letters',
    '<p>un<em>frigging</em>believable</p>',
    'un*frigging*believable',
    'p("un" emphasis("frigging") "believable")',
  ],
  [
    'emphasis with blanks at its edges',
    '<p><b>Note: </b>text and<i> this </i>too</p>',
    '**Note:** text and *this* too',
    'p(strong("Note:") " text and " emphasis("this") " too")',
  ],
  [
    'emphasis within emphasis',
    '<p><b>one <i>two</i></b></p>',
    '**one _two_**',
    'p(strong("one " emphasis("two")))',
  ],
  [
    'struck and marked text',
    '<p><del>old</del> <ins>new</ins> <mark>seen</mark></p>',
    '~~old~~ new *seen*',
    'p(delete("old") " new " emphasis("seen"))',
  ],
  [
    'raised and lowered text',
    '<p>H<sub>2</sub>O, 10<sup>6</sup></p>',
    'H<sub>2</sub>O, 10<sup>6</sup>',
    'p("H" html:"<sub>" "2" html:"</sub>" "O, 10" html:"<sup>" "6" html:"</sup>")',
  ],
  [
    'keys, output and variables',
    '<p>Press <kbd>Ctrl</kbd>, see <samp>ok</samp></p>',
    'Press `Ctrl`, see `ok`',
    'p("Press " inlineCode:"Ctrl" ", see " inlineCode:"ok")',
  ],
  [
    'abbreviations and citations as their words',
    '<p><abbr title="x">HTML</abbr> by <cite>W3C</cite></p>',
    'HTML by W3C',
    'p("HTML by W3C")',
  ],
  ['short quotations', '<p>He said <q>no</q>.</p>', 'He said "no".', 'p("He said \\"no\\".")'],
  [
    'inline code with backticks',
    '<p>use <code>a`b</code> and <code>`</code></p>',
    'use ``a`b`` and `` ` ``',
    'p("use " inlineCode:"a`b" " and " inlineCode:"`")',
  ],
  [
    'a fence with its language',
    '<pre><code class="language-js">a &lt; b</code></pre>',
    '```js\na < b\n```',
    'code:js:"a < b"',
  ],
  [
    'a fence whose language stands around it',
    '<div class="highlight highlight-source-python"><pre>pass</pre></div>',
    '```python\npass\n```',
    'code:python:"pass"',
  ],
  [
    'a fence with a fence inside',
    '<pre><code>a\n```\nb\n```\n</code></pre>',
    '````\na\n```\nb\n```\n````',
    'code::"a\\n```\\nb\\n```"',
  ],
  [
    'preformatted text without code',
    '<pre>one\n  two\n\n\nthree</pre>',
    '```\none\n  two\n\n\nthree\n```',
    'code::"one\\n  two\\n\\n\\nthree"',
  ],
  ['line breaks in code', '<pre>one<br>  two</pre>', '```\none\n  two\n```', 'code::"one\\n  two"'],
  [
    'code beside its line numbers',
    '<table><tr><td class="gutter"><pre>1\n2</pre></td><td><pre><code class="language-js">a\nb</code></pre></td></tr></table>',
    '```js\na\nb\n```',
    'code:js:"a\\nb"',
  ],
  [
    'code whose lines are rows',
    '<pre><code><table><tr><td>1</td><td>let a</td></tr><tr><td>2</td><td>let b</td></tr></table></code></pre>',
    '```\nlet a\nlet b\n```',
    'code::"let a\\nlet b"',
  ],
  [
    'lists within lists',
    '<ul><li>one<ul><li>two<ol start="3"><li>three<li>four</ol></ul><li>five</ul>',
    '- one\n  - two\n\n    3. three\n    4. four\n- five',
    'ul(li(p("one") ul(li(p("two") ol:3(li(p("three")) li(p("four")))))) li(p("five")))',
  ],
  [
    'lists that start later',
    '<ol start="7"><li>seven<li>eight</ol>',
    '7. seven\n8. eight',
    'ol:7(li(p("seven")) li(p("eight")))',
  ],
  [
    'lists that stand in lists',
    '<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>',
    '- a\n  - b\n- c',
    'ul(li(p("a") ul(li(p("b")))) li(p("c")))',
  ],
  [
    'items of several paragraphs',
    '<ul><li><p>a</p><p>b</p></li><li>c</li></ul>',
    '- a\n\n  b\n\n- c',
    'ul(li(p("a") p("b")) li(p("c")))',
  ],
  [
    'code in a list',
    '<ol><li>run<pre>npm i</pre></li><li>done</li></ol>',
    '1. run\n   ```\n   npm i\n   ```\n2. done',
    'ol:1(li(p("run") code::"npm i") li(p("done")))',
  ],
  [
    'tasks',
    '<ul><li><input type="checkbox" checked> done<li><label><input type="checkbox"> open</label></ul>',
    '- [x] done\n- [ ] open',
    'ul(li:x(p("done")) li:o(p("open")))',
  ],
  [
    'definition lists',
    '<dl><dt>Term</dt><dd>Meaning</dd><dt>Other</dt><dd>One</dd><dd>Two</dd></dl>',
    '- **Term**\n\n  Meaning\n\n- **Other**\n  - One\n  - Two',
    'ul(li(p(strong("Term")) p("Meaning")) li(p(strong("Other")) ul(li(p("One")) li(p("Two")))))',
  ],
  [
    'quotations within quotations',
    '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>',
    '> a\n>\n> > b',
    'blockquote(p("a") blockquote(p("b")))',
  ],
  [
    'lists in quotations',
    '<blockquote><ul><li>a</li><li>b</li></ul></blockquote>',
    '> - a\n> - b',
    'blockquote(ul(li(p("a")) li(p("b"))))',
  ],
  ['rules', '<p>a</p><hr><p>b</p>', 'a\n\n---\n\nb', 'p("a") thematicBreak p("b")'],
  [
    'a table with alignment and pipes',
    '<table><tr><th style="text-align:right">A|B</th><th align="center">C</th></tr><tr><td>1|2</td><td>x</td></tr></table>',
    '| A\\|B | C |\n| -: | :-: |\n| 1\\|2 | x |',
    'table:right,center(row(cell("A|B") cell("C")) row(cell("1|2") cell("x")))',
  ],
  [
    'line breaks and paragraphs in cells',
    '<table><tr><th>A<th>B</tr><tr><td>x<br>y</td><td><p>one</p><p>two</p></td></tr></table>',
    '| A | B |\n| - | - |\n| x<br>y | one<br>two |',
    'table:-,-(row(cell("A") cell("B")) row(cell("x" html:"<br>" "y") cell("one" html:"<br>" "two")))',
  ],
  [
    'lists in cells',
    '<table><tr><th>A<th>B</tr><tr><td><ul><li>x<li>y</ul></td><td>z</td></tr></table>',
    '| A | B |\n| - | - |\n| - x<br>- y | z |',
    'table:-,-(row(cell("A") cell("B")) row(cell("- x" html:"<br>" "- y") cell("z")))',
  ],
  [
    'code with a pipe in cells',
    '<table><tr><th>A<th>B</tr><tr><td><code>a|b</code></td><td>z</td></tr></table>',
    '| A | B |\n| - | - |\n| `a\\|b` | z |',
    'table:-,-(row(cell("A") cell("B")) row(cell(inlineCode:"a|b") cell("z")))',
  ],
  [
    'a table without a head',
    '<table><tr><td>1</td><td>2</td></tr></table>',
    '| | |\n| - | - |\n| 1 | 2 |',
    'table:-,-(row(cell() cell()) row(cell("1") cell("2")))',
  ],
  [
    'cells that span rows, said in each',
    '<table><tr><th>a<th>b</tr><tr><td rowspan=2>x<td>1</tr><tr><td>2</table>',
    '| a | b |\n| - | - |\n| x | 1 |\n| x | 2 |',
    'table:-,-(row(cell("a") cell("b")) row(cell("x") cell("1")) row(cell("x") cell("2")))',
  ],
  [
    'cells that span columns, said once',
    '<table><tr><th>a<th>b</tr><tr><td colspan=2>wide</tr><tr><td>1<td>2</table>',
    '| a | b |\n| - | - |\n| wide | |\n| 1 | 2 |',
    'table:-,-(row(cell("a") cell("b")) row(cell("wide") cell()) row(cell("1") cell("2")))',
  ],
  [
    'captions of tables',
    '<table><caption>Prices</caption><tr><th>a<th>b</tr><tr><td>1<td>2</table>',
    'Prices\n\n| a | b |\n| - | - |\n| 1 | 2 |',
    'p("Prices") table:-,-(row(cell("a") cell("b")) row(cell("1") cell("2")))',
  ],
  [
    'tables that only place things',
    '<table><tr><td><p>left</p></td></tr><tr><td><table><tr><td>1<td>2</table></td><td>right</td></tr></table>',
    'left\n\n| | |\n| - | - |\n| 1 | 2 |\n\nright',
    'p("left") table:-,-(row(cell() cell()) row(cell("1") cell("2"))) p("right")',
  ],
  [
    'formulas from their source',
    '<p>So <math><semantics><mi>e</mi><annotation encoding="application/x-tex">e^{x_1}</annotation></semantics></math>.</p>',
    'So $e^{x_1}$.',
    'p("So $e^{x_1}$.")',
  ],
  [
    'formulas from MathML',
    '<p><math><mrow><msup><mi>e</mi><mi>x</mi></msup><mo>=</mo><mfrac><mn>1</mn><msqrt><mn>2</mn></msqrt></mfrac></mrow></math></p>',
    '$e^{x} = \\frac{1}{\\sqrt{2}}$',
    'p("$e^{x} = \\\\frac{1}{\\\\sqrt{2}}$")',
  ],
  [
    'KaTeX, displayed',
    '<p>Hi <span class="katex"><span class="katex-mathml"><math display="block"><semantics><mrow><mi>a</mi></mrow><annotation encoding="application/x-tex">a^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">a2</span></span></p>',
    'Hi $$a^2$$',
    'p("Hi $$a^2$$")',
  ],
  [
    'MathJax, in scripts',
    '<p>So <script type="math/tex">x_1 < 2</script></p><script type="math/tex; mode=display">\\sum_{i=1}^n i</script>',
    'So $x_1 < 2$\n\n$$\\sum_{i=1}^n i$$',
    'p("So $x_1 < 2$") p("$$\\\\sum_{i=1}^n i$$")',
  ],
  [
    'formulas in cells',
    '<table><tr><th>A<th>B</tr><tr><td><math><annotation encoding="application/x-tex">|x|</annotation></math><td>1</table>',
    '| A | B |\n| - | - |\n| $\\vert x\\vert $ | 1 |',
    'table:-,-(row(cell("A") cell("B")) row(cell("$\\\\vert x\\\\vert $") cell("1")))',
  ],
  [
    'links made absolute',
    '<p><a href="../c?d#e">up</a> <a href="//o.example/">other</a> <a href="#f">here</a></p>',
    '[up](https://example.com/c?d#e) [other](https://o.example/) [here](https://example.com/a/b.html#f)',
    'p(link:https://example.com/c?d#e("up") " " link:https://o.example/("other") " " link:https://example.com/a/b.html#f("here"))',
  ],
  [
    'links with brackets and blanks',
    '<p><a href="/x (y).html">a [b]</a></p>',
    '[a \\[b\\]](https://example.com/x%20\\(y\\).html)',
    'p(link:https://example.com/x%20(y).html("a [b]"))',
  ],
  [
    'links with queries',
    '<p><a href="/s?q=1&amp;copy=2&amp;lt;=3">s</a></p>',
    '[s](https://example.com/s?q=1&copy=2\\&lt;=3)',
    'p(link:https://example.com/s?q=1&copy=2&lt;=3("s"))',
  ],
  [
    'links around blocks',
    '<a href="/x"><h3>T</h3><p>para</p></a>',
    '### [T](https://example.com/x)\n\n[para](https://example.com/x)',
    'h3(link:https://example.com/x("T")) p(link:https://example.com/x("para"))',
  ],
  [
    'links that are their own words',
    '<p><a href="https://x.test/">https://x.test/</a> <a href="mailto:a@b.test">a@b.test</a></p>',
    '<https://x.test/> <a@b.test>',
    'p(link:https://x.test/("https://x.test/") " " link:mailto:a@b.test("a@b.test"))',
  ],
  [
    'the words of links that are not for the web',
    '<p><a href="javascript:alert(1)">a</a> <a href="data:text/html,x">b</a></p>',
    'a b',
    'p("a b")',
  ],
  [
    'bare addresses in text',
    '<p>See https://x.test/a_b_c for more</p>',
    'See https://x.test/a_b_c for more',
    'p("See " link:https://x.test/a_b_c("https://x.test/a_b_c") " for more")',
  ],
  [
    'images with their words',
    '<p><img src="f.png" alt="A [cat]" title="T"></p>',
    '![A \\[cat\\]](https://example.com/a/f.png "T")',
    'p(image:https://example.com/a/f.png:A [cat])',
  ],
  [
    'images in links',
    '<p><a href="/x"><img src="f.png" alt="F"></a></p>',
    '[![F](https://example.com/a/f.png)](https://example.com/x)',
    'p(link:https://example.com/x(image:https://example.com/a/f.png:F))',
  ],
  [
    'lazy images',
    '<p><img src="data:image/gif;base64,R0" data-src="real.png" alt="x"></p>',
    '![x](https://example.com/a/real.png)',
    'p(image:https://example.com/a/real.png:x)',
  ],
  [
    'the largest of several images',
    '<p><picture><source srcset="b.webp"><img srcset="s.png 1x, l.png 2x" alt="y"></picture></p>',
    '![y](https://example.com/a/l.png)',
    'p(image:https://example.com/a/l.png:y)',
  ],
  ['pixels that count visitors as nothing', '<p>a<img src="t.gif" width="1" height="1"></p>', 'a', 'p("a")'],
  [
    'figures with captions',
    '<figure><img src="a.png" alt="A"><figcaption>Seen from above</figcaption></figure>',
    '![A](https://example.com/a/a.png)\n\nSeen from above',
    'p(image:https://example.com/a/a.png:A) p("Seen from above")',
  ],
  [
    'videos in frames as links',
    '<p>Look:</p><iframe src="https://www.youtube.com/embed/dQw4w9WgXcQ" title="A song"></iframe>',
    'Look:\n\n[A song](https://www.youtube.com/watch?v=dQw4w9WgXcQ)',
    'p("Look:") p(link:https://www.youtube.com/watch?v=dQw4w9WgXcQ("A song"))',
  ],
  [
    'recordings as links',
    '<p>Hear:</p><audio controls src="/talk.mp3"></audio>',
    'Hear:\n\n[Recording](https://example.com/talk.mp3)',
    'p("Hear:") p(link:https://example.com/talk.mp3("Recording"))',
  ],
  [
    'footnotes',
    '<p>Text<sup id="r1"><a href="#fn1">1</a></sup> and<sup><a href="#fn2" id="r2">[2]</a></sup>.</p><ol><li id="fn1"><p>One. <a href="#r1">↩</a></p></li><li id="fn2">Two <a href="#r2">^</a></li></ol>',
    'Text[^1] and[^2].\n\n[^1]: One.\n\n[^2]: Two',
    'p("Text" note:1 " and" note:2 ".") noted:1(p("One.")) noted:2(p("Two"))',
  ],
  [
    'details with their summary',
    '<details><summary>More</summary><p>Inside</p></details>',
    '**More**\n\nInside',
    'p(strong("More")) p("Inside")',
  ],
  [
    'addresses and times as their words',
    '<address>1 Road<br>Town</address><p><time datetime="2026-01-01">New year</time></p>',
    '1 Road\\\nTown\n\nNew year',
    'p("1 Road" break "Town") p("New year")',
  ],
  [
    'ruby with its reading in brackets',
    '<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> <ruby>字<rt>ji</rt></ruby></p>',
    '漢(kan) 字(ji)',
    'p("漢(kan) 字(ji)")',
  ],
  ['right-to-left text', '<p dir="rtl">שלום <b>עולם</b></p>', 'שלום **עולם**', 'p("שלום " strong("עולם"))'],
  [
    'entities',
    '<p>&copy; 2026 &mdash; a&nbsp;b &lt;c&gt; &amp;amp;</p>',
    '© 2026 — a b \\<c> \\&amp;',
    'p("© 2026 — a b <c> &amp;")',
  ],
  [
    'text that looks like Markdown',
    '<p>1. no</p><p># no</p><p>- no</p><p>*a* _b_ [c](d) `e` ~~f~~ | g</p>',
    '1\\. no\n\n\\# no\n\n\\- no\n\n\\*a\\* \\_b\\_ \\[c]\\(d) \\`e\\` \\~\\~f\\~\\~ | g',
    'p("1. no") p("# no") p("- no") p("*a* _b_ [c](d) `e` ~~f~~ | g")',
  ],
  [
    'text that looks like HTML',
    '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>',
    '\\<script>alert(1)\\</script>',
    'p("<script>alert(1)</script>")',
  ],
  [
    'tags never closed',
    '<p>one<p>two <b>bold<p>three',
    'one\n\ntwo **bold**\n\nthree',
    'p("one") p("two " strong("bold")) p("three")',
  ],
]

describe('Markdown keeps', () => {
  test.each(features)('%s', (_, html, markdown, parsed) => {
    const got = read(html)
    expect(got).toBe(markdown)
    expect(shape(got)).toBe(parsed)
  })

  test('links relative to the base that the page names', () => {
    const head = '<base href="/docs/&amp;/">'
    expect(read('<p>See <a href="c">c</a></p>', {}, head)).toBe('See [c](https://example.com/docs/&/c)')
  })

  test('words alone without links, and no images if they are turned off', () => {
    const html =
      '<p>A <a href="/x">link</a> and <img src="i.png" alt="I"> <a href="/y"><img src="j.png"></a></p>'
    expect(read(html, { include_links: false, include_images: false })).toBe('A link and')
    expect(read(html, { include_images: false })).toBe('A [link](https://example.com/x) and')
  })
})
