import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { createDocLibrary } from '../../../src/transports/page/site/docs/library.ts'
import { renderMarkdown } from '../../../src/transports/page/site/markdown.ts'
import { startGateway } from '../../support/gateway.ts'

const run = promisify(execFile)
const folder = resolve(import.meta.dirname, '../../../docs')

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

const open = (path: string) => home.request('GET', path, { headers: { Accept: 'text/html' } })

/** Elements that a page of the docs may have. */
const maxNodes = 3_000

describe('the guides', () => {
  /** Every page that links of other pages lead to, from the index on. */
  async function crawl(start: string): Promise<Map<string, string>> {
    const pages = new Map<string, string>()
    const waiting = [start]
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (pages.has(path)) continue
      const { status, text } = await open(path)
      expect([path, status]).toEqual([path, 200])
      pages.set(path, text)
      const links = [...text.matchAll(/href="(\/docs[^"#?]*)/g)].map(([, link = '']) => link)
      waiting.push(...links.filter((link) => !pages.has(link)))
    }
    return pages
  }

  test('are all reached from the index, and each link leads to a page and to a place on it', async () => {
    const pages = await crawl('/docs')
    const files = globSync('**/*.md', { cwd: folder }).map((file) => file.replace(/\.md$/, ''))
    const addresses = files.map((file) =>
      file === 'README' ? '/docs' : file === 'troubleshooting' ? '/docs/errors' : `/docs/${file}`,
    )
    expect(addresses.filter((path) => !pages.has(path))).toEqual([])
    const broken = [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/href="([^"#?]*)#([^"]+)"/g)]
        .filter(([, target = '']) => target === '' || target.startsWith('/docs'))
        .filter(([, target = '', place = '']) => !pages.get(target || path)?.includes(`id="${place}"`))
        .map(([link]) => `${path}: ${link}`),
    )
    expect(broken).toEqual([])
    const long = [...pages].filter(([, text]) => (text.match(/<[a-z]/g)?.length ?? 0) > maxNodes)
    expect(long.map(([path]) => path)).toEqual([])
  }, 60_000)

  test('are short enough that a first visit is within 65 KB, with the files of each page', async () => {
    const files = globSync('**/*.md', { cwd: folder }).map((file) => `/docs/${file}`)
    const headers = { Accept: 'text/html', 'Accept-Encoding': 'br' }
    const sizeOf = async (path: string) => {
      const { status, headers: stated } = await home.request('GET', path, { headers })
      expect([path, status]).toEqual([path, 200])
      const lines = [...stated].map((line) => line.join(': ').length + 2)
      return lines.reduce((sum, length) => sum + length, Number(stated.get('content-length')))
    }
    const shared = [...(await open('/docs')).text.matchAll(/(?:href|src)="(\/-\/[^"]+)"/g)].map(
      ([, file = '']) => file,
    )
    const sizes = await Promise.all([...new Set(shared)].map(sizeOf))
    const all = sizes.reduce((sum, size) => sum + size)
    const pages = files
      .filter((path) => !/README|troubleshooting/.test(path))
      .map((path) => path.replace(/\.md$/, ''))
    const long = []
    for (const path of [...pages, '/docs', '/docs/errors'])
      if (all + (await sizeOf(path)) > 66_000) long.push(path)
    expect(long).toEqual([])
  }, 60_000)

  test('have their title, their sections and code that can be copied', async () => {
    const { text, headers } = await open('/docs/calling')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(text).toContain('<title>Calling listed agents – Dragoman</title>')
    expect(text).toContain('<h2 id="which-protocol"><a href="#which-protocol">Which protocol</a></h2>')
    expect(text).toContain('<li><a href="#which-protocol">Which protocol</a></li>')
    expect(text).toContain('href="/docs/calling-mcp"')
    expect(text).toMatch(/<pre id="code-1" tabindex="0"><code>curl .*<button[^>]* data-copy="code-1"/s)
  })

  test.each([
    ['/docs/troubleshooting', '/docs/errors'],
    ['/docs/calling.md', '/docs/calling'],
    ['/docs/README', '/docs'],
  ])('%s leads to %s', async (path, target) => {
    const answer = await fetch(home.url + path, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, target])
  })

  test.each([
    '/docs/none',
    '/docs/..%2fpackage',
    '/docs/reference/none',
    '/docs/pictures/..%2fREADME.md',
    '/docs/pictures/none.png',
    '/docs/api/none',
    '/docs/api/schemas/constructor',
  ])('%s is not found', async (path) => {
    expect((await open(path)).status).toBe(404)
  })

  test('show their pictures, which hold no scripts', async () => {
    const { status, headers } = await open('/docs/pictures/terminal.svg')
    expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(headers.get('content-security-policy')).toContain('sandbox')
  })
})

describe('a search of the guides', () => {
  const titles = async (query: string) => {
    const { text } = await open(`/docs?q=${encodeURIComponent(query)}`)
    return [...text.matchAll(/<h2><a href="([^"]+)">/g)].map(([, path]) => path)
  }

  test('finds sections by their words and by beginnings of words', async () => {
    expect(await titles('loop_detected')).toContain('/docs/errors#loop_detected')
    expect((await titles('playgr'))[0]).toBe('/docs/playground')
    expect((await titles('webhook signature')).join()).toContain('/docs/changes#')
  })

  test('marks the words in a part of the text', async () => {
    const { text } = await open('/docs?q=brotli')
    expect(text).toContain('<mark>')
    expect(text.match(/<article class="hit">/g)?.length).toBeLessThanOrEqual(20)
  })

  test('says that nothing was found, and shows what was typed as text', async () => {
    const { text } = await open('/docs?q=%3Cscript%3E')
    expect(text).toContain('value="&lt;script&gt;"')
    expect((await open('/docs?q=zzqqxx')).text).toContain('No guide has these words.')
    expect(text).not.toContain('<script>')
    expect((await open('/docs?q=(((')).status).toBe(200)
  })
})

describe('Markdown', () => {
  const bodyOf = (text: string) =>
    renderMarkdown(text, {
      linkTo: (address) => (/^https:/.test(address) ? address : undefined),
    }).body.html

  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;'],
    ['<img src=x onerror=alert(1)>', '&lt;img'],
    ['![x"onerror="alert(1)](https://example.com/a.png)', 'x&quot;onerror'],
    ['```js" onclick="alert(1)\nx\n```', '<pre id="code-1"'],
    ['# <b>&"', 'id="b"'],
  ])('%s becomes text', (text, shown) => {
    const body = bodyOf(text)
    expect(body).toContain(shown)
    expect(body).not.toMatch(/<script|<img|<[^>]* on\w+=/)
  })

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '//example.com',
  ])('a link to %s is no link in a guide', async (address) => {
    const path = await mkdtemp(`${tmpdir()}/docs-`)
    await writeFile(`${path}/hostile.md`, `# Hostile\n\n[here](<${address}>) and <${address}>\n`)
    const doc = await createDocLibrary(new URL(`file://${path}/`)).find('hostile')
    expect(doc?.body.html).toContain('here')
    expect(doc?.body.html).not.toMatch(/<a href="(?!#)/)
  })

  test('has the ids of GitHub, each one once', () => {
    const { headings } = renderMarkdown('# A b\n\n## not_found & co.\n\n## A b\n\n## Ünï', {
      linkTo: () => undefined,
    })
    expect(headings.map(({ id }) => id)).toEqual(['a-b', 'not_found--co', 'a-b-1', 'ünï'])
  })
})

describe('the reference of the API', () => {
  test('has every operation of the document on the page of its tag', async () => {
    const document = (await home.request('GET', '/openapi.json')).json
    const pages = new Map<string, string>()
    for (const { name } of document.tags) {
      pages.set(name, (await open(`/docs/api/${name.toLowerCase()}`)).text)
    }
    const operations = Object.values<Record<string, { operationId: string; tags: string[] }>>(
      document.paths,
    ).flatMap((methods) => Object.values(methods))
    const missing = operations.filter(
      ({ operationId, tags: [tag = ''] }) => !pages.get(tag)?.includes(`<h2 id="${operationId}">`),
    )
    expect(missing).toEqual([])
    expect(operations.length).toBeGreaterThan(60)
  })

  test('says what an operation takes, answers and refuses', async () => {
    const { text } = await open('/docs/api/publishing')
    expect(text).toContain('Needs a token with the scope agents:write.')
    expect(text).toContain('<a href="/docs/api/schemas/Agent">Agent</a>')
    expect(text).toContain('href="/docs/errors#quota_exceeded"')
    expect(text).toContain('<code>package_name</code>')
  })

  test('has the fields of each schema, with their bounds', async () => {
    const { text } = await open('/docs/api/schemas/SearchRequest')
    expect(text).toMatch(/<code>limit<\/code>[^\n]*integer, 1–100/)
    expect(text).toMatch(/<code>query<\/code>[^\n]*required/)
  })

  test('has examples that run as they stand', async () => {
    const { text } = await open('/docs/api/search')
    const [, line = ''] =
      /<pre id="searchAgentsByIntent-curl" tabindex="0"><code>([^<]*)<\/code>/.exec(text) ?? []
    const command = line.replaceAll('&#39;', "'").replaceAll('&quot;', '"')
    const { stdout } = await run('bash', ['-c', command.replace('curl', 'curl -s')])
    expect(JSON.parse(stdout)).toMatchObject({ agents: [], total: 0 })
  })

  test('names the methods of JSON-RPC and the tools of MCP', async () => {
    const { text } = await open('/docs/api/methods')
    expect(text).toContain('<code>registry.search_agents</code>')
    expect(text).toContain('<code>playground.create_session</code>')
  })
})
