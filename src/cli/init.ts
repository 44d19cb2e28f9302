import { access, writeFile } from 'node:fs/promises'
import { Protocol } from '../../schemas/entry-parts.ts'
import { Failure } from '../../schemas/failure.ts'
import { issueText } from '../../schemas/issue-text.ts'
import { placeholders, placeholdersIn } from '../../schemas/placeholders.ts'
import { Publication } from '../../schemas/publication.ts'
import { canAsk, initFor, openQuestions } from './input.ts'
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

/** Writes a publication to a new file, from options, from answers at a terminal, or with placeholders. */
export async function init(file: string, options: InitOptions, json: boolean): Promise<void> {
  if (URL.canParse(file) && file.includes('://')) {
    throw new Failure('invalid_request', `${file} is an address, not a file to write to.`, {
      hint: `For an agent at this address: ${initFor(file)}`,
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
  const open = placeholdersIn(publication).map((pointer) => pointer.slice(1))
  const next = `dragoman validate ${file} && dragoman publish ${file}`
  const [endpoint] = publication.endpoints ?? []
  if (!json && endpoint && options.protocol === undefined && !canAsk()) {
    const reason = options.endpoint === undefined ? '' : ', which the address suggests'
    say(`It states the protocol ${endpoint.protocol}${reason}. --protocol states another.`)
  }
  if (!json) say(open.length === 0 ? `Next: ${next}` : `Fill in ${open.join(', ')}. Then: ${next}`)
}

async function askFor(options: InitOptions): Promise<InitOptions> {
  using questions = openQuestions()
  const answer = async (stated: string | undefined, question: string, otherwise: string) =>
    stated ?? ((await questions.ask(`${question} (${otherwise}): `)) || otherwise)
  const answers = {
    packageName: await answer(options.packageName, 'Package name', placeholders.package_name),
    name: await answer(options.name, 'Name', placeholders.name),
    description: await answer(options.description, 'Description', placeholders.description),
    endpoint: await answer(options.endpoint, 'Address', placeholders.endpoint),
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
  const url = endpoint ?? placeholders.endpoint
  const own = {
    package_name: packageName ?? placeholders.package_name,
    name: name ?? placeholders.name,
    description: description ?? placeholders.description,
    endpoints: [{ protocol: protocol ?? protocolOf(url), url }],
  }
  const linked = { package_name: packageName, name, description, manifest_url: manifest }
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
