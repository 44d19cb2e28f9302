import type { Agent } from '../../../../../schemas/action.ts'
import { codesOf } from '../../../../../schemas/failure.ts'
import { shortName, toolName } from '../../../../../schemas/names.ts'
import { type Html, html } from '../../html.ts'
import { copyable, jsonOf, withCode } from '../parts.ts'
import type { View } from '../view.ts'
import { words } from '../words.ts'
import { type ApiDocument, type ApiRow, operationsOf, resolved, schemaName } from './api-document.ts'
import { guideView, type Link } from './guide.ts'
import { fieldsOf, typeOf } from './schema.ts'

/** The address of the operations with a tag. */
function pathOf(tag: string): string {
  return `/docs/api/${tag.toLowerCase()}`
}

/** All operations, by tag. */
export function apiIndex(document: ApiDocument): View {
  const groups = document.tags.map(({ name, description }) => {
    const rows = operationsOf(document, name).map(
      ({ method, path, summary, operationId }) =>
        html`<li><a href="${pathOf(name)}#${operationId}"><code><b>${method}</b> ${path}</code> <span>${summary}</span></a></li>`,
    )
    return html`<h2 id="${name.toLowerCase()}"><a href="${pathOf(name)}">${name}</a></h2>
<p>${description}</p>
<ul class="operations">${rows}</ul>`
  })
  return apiView(
    words.api.title,
    html`<p class="lead">${words.api.lead}</p>
<p><a href="/openapi.json">${words.api.document}</a> · <a href="/docs/api/methods">${words.api.methods}</a> · <a href="/docs/errors">${words.api.errors}</a></p>
${groups}`,
    document.tags.map(({ name }) => [`#${name.toLowerCase()}`, name]),
  )
}

/** The operations with a tag; undefined if there is no such tag. */
export function apiTag(document: ApiDocument, name: string, base: string): View | undefined {
  const tag = document.tags.find((candidate) => candidate.name.toLowerCase() === name)
  if (!tag) return undefined
  const rows = operationsOf(document, tag.name)
  return apiView(
    tag.name,
    html`<p class="lead">${tag.description}</p>
${rows.map((row) => operation(document, row, base))}`,
    rows.map(({ operationId, summary }) => [`#${operationId}`, summary]),
  )
}

/** A schema with a name; undefined if there is none. */
export function apiSchema({ components }: ApiDocument, name: string): View | undefined {
  if (!Object.hasOwn(components.schemas, name)) return undefined
  const schema = components.schemas[name] ?? {}
  const { description, examples } = schema
  const example = Array.isArray(examples) ? examples[0] : undefined
  return apiView(
    name,
    html`${typeof description === 'string' && html`<p class="lead">${description}</p>`}
${fieldsOf(schema)}
${example !== undefined && html`<h2 id="example">${words.api.example}</h2>${copyable('example-text', jsonOf(example))}`}`,
    [],
  )
}

/** The actions of the hosted agents as JSON-RPC methods. */
export function apiMethods(agents: readonly Agent[], base: string): View {
  const call = { jsonrpc: '2.0', id: 1, method: 'registry.search_agents', params: { query: 'weather' } }
  const groups = agents.map(({ name, package_name, actions }) => {
    const prefix = shortName(package_name)
    const rows = actions.map((action) => {
      const tool =
        action.advertised &&
        html` <span class="kind-of">${words.api.tool} <code>${toolName(package_name, action.name)}</code></span>`
      return html`<dt><code>${prefix}.${action.name}</code>${tool}</dt><dd>${withCode(action.description)}</dd>`
    })
    return html`<h2 id="${prefix}">${name}</h2>
<dl class="schema">${rows}</dl>`
  })
  return apiView(
    words.api.methods,
    html`<p class="lead">${words.api.methods_lead}</p>
${copyable('call', curl('POST', `${base}/rpc`, call, true))}
${groups}`,
    agents.map(({ name, package_name }) => [`#${shortName(package_name)}`, name]),
  )
}

function apiView(title: string, content: Html, links: readonly Link[]): View {
  const above = title === words.api.title ? [] : [['/docs/api', words.api.title] as const]
  const body = html`<h1>${title}</h1>\n${content}`
  return guideView({ path: '/docs/api', title, description: words.api.lead, above, links, body })
}

function operation(document: ApiDocument, row: ApiRow, base: string): Html {
  const { operationId, summary, description, method, path, requestBody } = row
  const [type = '', content] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const isJson = type === 'application/json'
  const example = isJson ? content?.example : undefined
  return html`<section>
<h2 id="${operationId}"><a href="#${operationId}">${summary}</a></h2>
<p class="address"><code><b>${method}</b> ${path}</code></p>
${description !== undefined && html`<p>${withCode(description)}</p>`}
<p class="hint">${accessOf(row)}</p>
${(example !== undefined || method === 'GET') && copyable(`${operationId}-curl`, curl(method, base + filledIn(path), example, needsNoToken(row)))}
${parametersOf(document, row)}
${content?.schema !== undefined && html`<h3>${words.api.body}</h3><p>${typeOf(content.schema)} <span class="kind-of">${type}</span></p><details><summary>${words.api.fields}</summary>${fieldsOf(byName(document, content.schema))}</details>`}
${answersOf(document, row)}
</section>`
}

function byName({ components }: ApiDocument, schema: NonNullable<Parameters<typeof fieldsOf>[0]>) {
  const name = schemaName(schema)
  return name === undefined ? schema : (components.schemas[name] ?? schema)
}

function parametersOf(document: ApiDocument, { parameters = [] }: ApiRow): Html | false {
  const defined = parameters.map((parameter) => resolved(document, parameter))
  const rows = defined.flatMap((parameter) => {
    if (!parameter) return []
    const { name, in: place, required, description, schema = {} } = parameter
    const { description: other, ...rest } = schema
    const text = description ?? (typeof other === 'string' ? other : '')
    return html`<dt><code>${name}</code> <span class="kind-of">${words.api.places[place as 'path'] ?? place}, ${typeOf(rest)}</span>${required === true && html` <span class="required">${words.required}</span>`}</dt><dd>${withCode(text)}</dd>`
  })
  if (rows.length === 0) return false
  return html`<h3>${words.api.parameters}</h3><dl class="schema">${rows}</dl>`
}

function answersOf(document: ApiDocument, { responses }: ApiRow): Html {
  const answers = Object.entries(responses).map(([status, answer]) => ({
    status,
    answer: resolved(document, answer),
  }))
  const good = answers.filter(({ status }) => status < '4')
  const bad = answers.filter(({ status }) => status >= '4')
  return html`<h3>${words.api.answers}</h3>
<ul class="answers">${good.map(({ status, answer }) => html`<li><code>${status}</code> ${Object.entries(answer?.content ?? {}).map(([type, { schema = {} }]) => html`${typeOf(schema)} <span class="kind-of">${type}</span> `)}${answer?.content === undefined && (answer?.description ?? '')}</li>`)}</ul>
${bad.length > 0 && html`<p class="codes">${words.api.errors}: ${bad.map(({ status }) => html`${status} ${codesOf(Number(status)).map((code) => html`<a href="/docs/errors#${code}"><code>${code}</code></a> `)}`)}</p>`}`
}

function needsNoToken({ security = [] }: ApiRow): boolean {
  return security.length === 0 || security.some((scheme) => Object.keys(scheme).length === 0)
}

function accessOf(row: ApiRow): string {
  if (needsNoToken(row)) return words.api.open
  const scopes = row.security?.flatMap((scheme) => Object.values(scheme).flat()) ?? []
  return scopes.length > 0 ? words.api.scope(scopes.join(', ')) : words.api.token
}

/** Braces have a meaning of their own in curl. */
function filledIn(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
}

/** The call as a line of a shell. */
function curl(method: string, address: string, body: unknown, isOpen: boolean): string {
  const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(address)}`,
    ...(isOpen ? [] : ['-H "Authorization: Bearer $DRAGOMAN_TOKEN"']),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n  ')
}
