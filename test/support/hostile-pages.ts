const row = (cells: number) => `<tr>${'<td>x</td>'.repeat(cells)}</tr>`

/** Pages that take much time and memory. Each name contains the size; each function makes the page. */
export const hostilePages: [name: string, html: () => string][] = [
  ['700,000 lines of code inside 48 lists', () => `${'<ul><li>'.repeat(48)}<pre>${'x\n'.repeat(700_000)}`],
  ['19,000 paragraphs inside 90 quotations', () => `${'<blockquote>'.repeat(90)}${'<p>x'.repeat(19_000)}`],
  ['50,000 nested divisions', () => '<div>'.repeat(50_000)],
  ['50,000 nested bold', () => '<b>'.repeat(50_000)],
  ['5,000 nested lists', () => '<ul><li>x'.repeat(5_000)],
  ['400 nested lists', () => '<ul><li>x'.repeat(400)],
  ['3,000 nested tables', () => '<table><tr><td>x'.repeat(3_000)],
  ['3,000 nested quotations', () => '<blockquote><p>x'.repeat(3_000)],
  ['10 MB of flat paragraphs', () => `<p>${'lorem ipsum '.repeat(40)}</p>`.repeat(20_500)],
  ['200,000 short paragraphs', () => '<p>lorem ipsum</p>'.repeat(200_000)],
  ['a table of 200,000 cells', () => `<table>${row(20).repeat(10_000)}</table>`],
  ['a table with one row of 9,000 cells', () => `<table>${row(9_000)}${row(1).repeat(5_000)}</table>`],
  [
    'a table of endless spans',
    () => `<table>${'<tr><td colspan=99999 rowspan=99999>x'.repeat(5_000)}</table>`,
  ],
  ['1 MB of attribute', () => `<div class="${'a '.repeat(500_000)}"><p>hello</p></div>`],
  ['3 MB of <', () => '<'.repeat(3_000_000)],
  ['450,000 references', () => `<p>${'&amp;&lt;&#x2a;'.repeat(150_000)}</p>`],
  ['2 MB of blanks', () => `<p>${' \n'.repeat(500_000)}${'&nbsp;'.repeat(200_000)}</p>`],
  ['300,000 line breaks', () => `<p>a${'<br>x'.repeat(300_000)}b</p>`],
  ['20,000 links', () => '<a href="/x">link</a> '.repeat(20_000)],
  ['20,000 links never closed', () => '<a href="/x">link '.repeat(20_000)],
  ['20,000 tags never closed', () => '<p><span><font><center>x'.repeat(20_000)],
  ['3,000 misnested tags', () => '<b><i><u><p>x</b></i></u>'.repeat(3_000)],
  [
    'deep JSON-LD',
    () => `<script type="application/ld+json">${'{"a":['.repeat(20_000)}</script><p>hello</p>`,
  ],
  ['50,000 CSS rules', () => `<style>${'.a{color:red}'.repeat(50_000)}</style><p>hello</p>`],
  [
    'ten data: images',
    () => `${`<img src="data:image/png;base64,${'A'.repeat(200_000)}">`.repeat(10)}<p>hello</p>`,
  ],
  ['5 MB of code', () => `<pre><code>${'let x = 1 &lt; 2 // *a*\n'.repeat(210_000)}</code></pre>`],
  ['1.6 MB of Markdown marks', () => `<p>${'*_`['.repeat(400_000)}</p>`],
  ['empty', () => ''],
  ['a set of frames', () => `<frameset>${'<frame src="/x">'.repeat(20_000)}</frameset>`],
  ['100,000 comments', () => '<!-- x --'.repeat(100_000)],
  ['50,000 titles', () => '<title>x</title>'.repeat(50_000)],
  ['20,000 nested drawings', () => '<svg><math><mi>'.repeat(20_000)],
  [
    'sections of character data that never end',
    () => `<?xml version="1.0"?><rss>${'<![CDATA['.repeat(300_000)}`,
  ],
  [
    '20,000 footnotes',
    () => '<p>x<sup><a href="#n1">1</a></sup></p>'.repeat(10_000) + '<li id="n1">y</li>'.repeat(10_000),
  ],
  ['90,000 frames of videos', () => '<iframe src="https://www.youtube.com/embed/abcdefgh">'.repeat(90_000)],
  ['scripts of formulas that never end', () => '<script type=math/tex>'.repeat(200_000)],
  [
    'garbage',
    () =>
      Buffer.from(Uint8Array.from({ length: 1_000_000 }, (_, index) => (index * 7919) >> 3)).toString(
        'latin1',
      ),
  ],
]
