/** A form of a page: its address, and its fields with the values that the page states. */
export interface Form {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

export interface Visited {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly text: string
  readonly forms: readonly Form[]
  /** The addresses of links. */
  readonly links: readonly string[]
}

/** A browser without scripts: it keeps cookies, follows redirects of the gateway, and posts forms. */
export class Browser {
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>()
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = new URL(origin).origin
  }

  /** Every cookie that the gateway set, as it set them. */
  readonly setCookies: string[] = []

  cookie(name: string): string | undefined {
    return [...this.#cookies].find(([key]) => key.startsWith(`${name} `))?.[1].value
  }

  plant(name: string, value: string, path = '/'): void {
    this.#cookies.set(`${name} ${path}`, { value, path })
  }

  forget(): void {
    this.#cookies.clear()
  }

  async open(url: string): Promise<Visited> {
    return await this.#visit(url, { method: 'GET' })
  }

  /** Posts the first form of a page; `fields` replaces its fields, and an empty one is left out. */
  async submit(
    page: Visited,
    fields: Readonly<Record<string, string>> = {},
    form = page.forms[0],
  ): Promise<Visited> {
    if (!form) throw new Error(`The page has no form: ${page.text}`)
    return await this.post(new URL(form.action, page.url).href, { ...form.fields, ...fields })
  }

  async post(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Visited> {
    const body = new URLSearchParams(fields).toString()
    return await this.#visit(url, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    })
  }

  /** Stops at an address outside the gateway, which it does not open. */
  async #visit(url: string, request: RequestInit): Promise<Visited> {
    let next = url
    let init = request
    for (let hops = 0; hops < 20; hops++) {
      const answer = await fetch(next, {
        ...init,
        redirect: 'manual',
        headers: { Accept: 'text/html', ...init.headers, Cookie: this.#cookiesFor(next) },
      })
      this.#keep(answer.headers, next)
      const location = answer.headers.get('location')
      if (location === null || answer.status < 300 || answer.status > 399) return await read(answer, next)
      next = new URL(location, next).href
      if (new URL(next).origin !== this.#origin || this.#isStop(next)) return await read(answer, next)
      init = { method: 'GET' }
    }
    throw new Error(`Too many redirects from ${url}.`)
  }

  /** Addresses of the gateway at which it stops too. */
  stops: readonly string[] = []

  #isStop(url: string): boolean {
    return this.stops.some((stop) => url.startsWith(stop))
  }

  #cookiesFor(url: string): string {
    const { pathname } = new URL(url)
    return [...this.#cookies]
      .filter(([, { path }]) => path === '/' || pathname === path || pathname.startsWith(`${path}/`))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ')
  }

  #keep(headers: Headers, url: string): void {
    for (const line of headers.getSetCookie()) {
      this.setCookies.push(line)
      const [pair = '', ...attributes] = line.split(/; */)
      const [name = '', value = ''] = pair.split('=')
      const path =
        attributes.find((attribute) => /^path=/i.test(attribute))?.slice(5) ?? new URL(url).pathname
      const isOver = attributes.some((attribute) =>
        /^(max-age=0|expires=Thu, 01 Jan 1970.*)$/i.test(attribute),
      )
      if (isOver) this.#cookies.delete(`${name} ${path}`)
      else this.#cookies.set(`${name} ${path}`, { value, path })
    }
  }
}

async function read(answer: Response, url: string): Promise<Visited> {
  const text = await answer.text()
  return {
    status: answer.status,
    url,
    headers: answer.headers,
    text,
    forms: [...text.matchAll(/<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/g)].map(
      ([, action = '', inner = '']) => ({ action: plain(action), fields: fieldsOf(inner) }),
    ),
    links: [...text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => plain(href)),
  }
}

function fieldsOf(inner: string): Record<string, string> {
  const inputs = [...inner.matchAll(/<input [^>]*>/g)].map(([input]) => {
    return [attribute(input, 'name'), attribute(input, 'value')] as const
  })
  return Object.fromEntries(inputs)
}

function attribute(tag: string, name: string): string {
  return plain(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
