import { access, writeFile } from 'node:fs/promises'
import { Protocol } from '../../schemas/entry-parts.ts'
import { Failure } from '../../schemas/failure.ts'
import { issueText } from '../../schemas/issue-text.ts'
import { Publication } from '../../schemas/publication.ts'
import { canAsk, openQuestions } from './input.ts'
import { print, say } from './output.ts'

interface InitOptions {
  readonly packageName?: string
  readonly name?: string
  readonly description?: string
  readonly endpoint?: string
  readonly protocol?: string
  readonly manifest?: string
  readonly tag?: string[]
  readonly force?: boolean
}

/** What the file says until its author says otherwise. */
const placeholder = {
  package_name: 'com.example.my-agent',
  name: 'My agent',
  description: 'Says in one sentence what the agent does.',
  endpoint: 'https://my-agent.example.com/a2a',
} as const

/** Writes a publication to a new file, from options, from answers at a terminal, or with placeholders. */
export async function init(file: string, options: InitOptions, json: boolean): Promise<void> {
  if (URL.canParse(file) && file.includes('://')) {
    throw new Failure('invalid_request', `${file} is no file to write to.`, {
      hint: `For an agent at this address: dragoman init --endpoint ${file}`,
    })
  }
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (exists && !options.force && file !== '-') {
    throw new Failure('conflict', `${file} is there already.`, { hint: '--force replaces it.' })
  }
  const answers = canAsk() && options.manifest === undefined ? await askFor(options) : options
  const publication = publicationOf(answers)
  const text = `${JSON.stringify(publication, null, 2)}\n`
  if (file === '-') return print(publication)
  await writeFile(file, text).catch((fault) => {
    throw new Failure('invalid_request', `${file} cannot be written.`, {}, fault)
  })
  print(json ? { file, publication } : `Wrote ${file}.`)
  if (!json) say(`Fill it in, then: dragoman validate ${file} && dragoman publish ${file}`)
}

async function askFor(options: InitOptions): Promise<InitOptions> {
  using questions = openQuestions()
  const answer = async (stated: string | undefined, question: string, otherwise: string) =>
    stated ?? ((await questions.ask(`${question} (${otherwise}): `)) || otherwise)
  const answers = {
    packageName: await answer(options.packageName, 'Package name', placeholder.package_name),
    name: await answer(options.name, 'Name', placeholder.name),
    description: await answer(options.description, 'Description', placeholder.description),
    endpoint: await answer(options.endpoint, 'Address', placeholder.endpoint),
  }
  const question = `Protocol: ${Protocol.options.join(', ')}`
  const protocol = await answer(options.protocol, question, protocolOf(answers.endpoint))
  return { ...options, ...answers, protocol }
}

/** What an endpoint speaks whose author does not say: the paths of MCP servers end by custom in `/mcp` or `/sse`. */
function protocolOf(endpoint: string): Protocol {
  return /\/(mcp|sse)\/?$/i.test(endpoint) ? 'mcp' : 'a2a'
}

/** Throws Failure `invalid_request` naming the option that is wrong. */
function publicationOf(options: InitOptions): Publication {
  const { packageName, name, description, endpoint, protocol, manifest, tag } = options
  const url = endpoint ?? placeholder.endpoint
  const own = {
    package_name: packageName ?? placeholder.package_name,
    name: name ?? placeholder.name,
    description: description ?? placeholder.description,
    endpoints: [{ protocol: protocol ?? protocolOf(url), url }],
  }
  const linked = {
    ...(packageName !== undefined && { package_name: packageName }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    manifest_url: manifest,
  }
  const { success, data, error } = Publication.safeParse({
    ...(manifest === undefined ? own : linked),
    ...(tag && { tags: tag }),
  })
  if (success) return data
  const [issue] = error.issues
  const field = issue?.path.map(String) ?? []
  throw new Failure(
    'invalid_request',
    `${optionOf(field)} is not right. ${issue === undefined ? '' : issueText(issue)}`.trim(),
  )
}

function optionOf(path: readonly string[]): string {
  const [field = ''] = path
  if (field === 'endpoints') return path.includes('protocol') ? '--protocol' : '--endpoint'
  if (field === 'manifest_url') return '--manifest'
  return field === 'tags' ? '--tag' : `--${field.replaceAll('_', '-')}`
}
