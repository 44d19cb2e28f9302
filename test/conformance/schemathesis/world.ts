import { serve } from '../../net/support.ts'

const page = '/page'
/** How Coinbase, Frankfurter and Yahoo say so, together. */
const unknown = '{"message":"NotFound","chart":{"result":null,"error":{"code":"Not Found"}}}'
const binance = '/api/v3/ticker/24hr'

export interface Services extends AsyncDisposable {
  readonly url: string
  /** Address of the page. */
  readonly page: string
}

/** The outside world: a loopback server that plays a MediaWiki, sources of prices and a page to read. */
export async function openWorld(): Promise<Services> {
  const server = await serve((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://world')
    const body = answers(pathname)
    const type = pathname === page ? 'text/html; charset=utf-8' : 'application/json'
    response.writeHead(pathname === binance ? 400 : body ? 200 : 404, { 'Content-Type': type })
    response.end(body ?? unknown)
  })
  const url = server.origin
  return {
    url,
    page: `${url}${page}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Bitcoin has a price at Coinbase, every share one at Finnhub; nobody knows anything else; the wiki has one page. */
function answers(path: string): string | undefined {
  if (path === '/w/api.php') return wiki
  if (path === page) return '<html><body><h1>Title</h1><p>Some words of a page.</p></body></html>'
  if (path === '/products/BTC-USD/ticker')
    return `{"price":"64000.10","time":"${new Date().toISOString()}","bid":"64000.00","ask":"64000.20"}`
  if (path === '/0/public/Ticker') return '{"error":["EQuery:Unknown asset pair"]}'
  if (path === binance) return '{"code":-1121,"msg":"Invalid symbol."}'
  if (path === '/api/v3/simple/price') return '{}'
  if (path === '/api/v1/quote') return `{"c":190.5,"t":${Math.floor(Date.now() / 1000)}}`
  return undefined
}

/** After the shape of MediaWiki's answers (formatversion 2); the texts are ours. */
const wiki = JSON.stringify({
  batchcomplete: true,
  query: {
    general: { sitename: 'Testopedia', base: 'https://en.wiki.example/wiki/Main_Page', lang: 'en' },
    rightsinfo: { url: '//license.example/by-sa/4.0/', text: 'Example Licence 4.0' },
    pages: [
      {
        pageid: 736,
        ns: 0,
        title: 'Berlin',
        fullurl: 'https://en.wiki.example/wiki/Berlin',
        pagelanguage: 'en',
        extract: 'Berlin is a place. It lies on a river.',
        revisions: [{ revid: 4711, parentid: 4000, timestamp: '2026-02-28T09:30:00Z' }],
      },
    ],
  },
})
