import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { otherDocument } from '../../../schemas/other-document.ts'
import { hiddenIn, mixesScripts, quotedName } from '../../../schemas/text.ts'
import type { Finding } from '../../../schemas/trust.ts'
import { contentFlags } from '../entry/content-flags.ts'
import { addressHint } from './fetch-card.ts'
import { excessOf, type Manifest, maxCapabilities, maxDescription, readCard } from './manifest.ts'

/** The form of a card: an A2A version, the registry's own form, or unknown. */
type CardForm = 'a2a-1.0' | 'a2a-0.3' | 'a2a-0.2' | 'a2a-0.1' | 'interface' | 'unknown'

/** The content of a card and the findings about it. `manifest` is null if the card cannot be listed. */
interface CardReading {
  /** Null for another document that people take for a card. */
  readonly form: CardForm | null
  readonly manifest: Manifest | null
  readonly findings: Finding[]
}

/** Reads a document as a card. `url` is where it was fetched. Never throws because of its content. */
export function readFindings(document: unknown, url?: string): CardReading {
  if (!isRecord(document)) {
    const finding = error(
      'not_an_object',
      '',
      'A card is a JSON object.',
      'Serve the card itself at this address.',
    )
    return { form: 'unknown', manifest: null, findings: [finding] }
  }
  const other = otherDocument(document)
  if (other) {
    const finding = error('not_a_card', other.pointer, `This is ${other.kind}, and no card.`, other.remedy)
    return { form: null, manifest: null, findings: [finding] }
  }
  const excess = excessOf(document)
  if (excess) {
    const finding = error(excess.code, '', excess.detail, 'Make it smaller and flatter.')
    return { form: 'unknown', manifest: null, findings: [finding] }
  }
  const form = formOf(document)
  const { manifest, findings } = read(document)
  const isOther = form === 'unknown' && findings.some(({ code }) => code === 'missing_field')
  const hidden = hiddenIn(document).map((field) =>
    error('hidden_characters', field, 'It holds hidden characters.', 'Remove them.'),
  )
  const refused = [...hidden, ...mixed(document)]
  const all = [
    ...(isOther ? [noCard(document, url)] : []),
    ...findings,
    ...refused,
    ...(isOther ? [] : missing(document, form)),
    ...ofSkills(document),
    ...ofCapabilities(document),
    ...ofUrls(document),
    ...ofSigning(document, form),
    ...(manifest ? ofTexts(manifest) : []),
  ]
  const rank = { error: 0, warning: 1, info: 2 }
  all.sort((a, b) => rank[a.severity] - rank[b.severity])
  return { form, manifest: refused.length > 0 ? null : manifest, findings: all.slice(0, maxFindings) }
}

const maxFindings = 100

const maxNames = 8

/** A document that has neither what every card has nor what shows the form of a card, such as the answer of an API. */
function noCard(document: Record<string, unknown>, url: string | undefined): Finding {
  const names = Object.keys(document)
  const shown = names.slice(0, maxNames).map((name) => quotedName(name.slice(0, 50)))
  const rest = names.length > maxNames ? `, and ${names.length - maxNames} more` : ''
  const content = names.length === 0 ? 'an empty object' : `an object with ${shown.join(', ')}${rest}`
  const message = `${url ?? 'The document'} is ${content}, and no agent card: a card has a name, a description and skills or capabilities.`
  return error('not_a_card', '', message, url === undefined ? null : addressHint(url))
}

function mixed({ name }: Record<string, unknown>): Finding[] {
  if (typeof name !== 'string' || !mixesScripts(name)) return []
  const message = 'One word mixes letters of scripts that look alike.'
  return [error('mixed_scripts', '/name', message, 'Write it in one script.')]
}

function findingOf(severity: Finding['severity']) {
  return (code: string, field: string, message: string, suggestion: string | null = null): Finding => {
    return { severity, code, field, message, suggestion }
  }
}

export const error = findingOf('error')
export const warning = findingOf('warning')
export const info = findingOf('info')

function read(document: Record<string, unknown>): { manifest: Manifest | null; findings: Finding[] } {
  try {
    return { manifest: readCard(document), findings: [] }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const errors = thrown.details.errors ?? [{ pointer: '', detail: thrown.message }]
    const findings = errors.map(({ pointer, detail }) =>
      document[pointer.slice(1)] === undefined
        ? error('missing_field', pointer, 'An agent cannot be listed without it.', `Add ${pointer.slice(1)}.`)
        : error('wrong_value', pointer, detail, 'Mend it.'),
    )
    return { manifest: null, findings }
  }
}

function formOf(document: Record<string, unknown>): CardForm {
  const { supportedInterfaces, protocolVersion, capabilities, agent_id, skills } = document
  if (Array.isArray(supportedInterfaces)) return 'a2a-1.0'
  if (agent_id !== undefined && Array.isArray(capabilities)) return 'interface'
  const version = typeof protocolVersion === 'string' ? protocolVersion : ''
  if (version.startsWith('0.1')) return 'a2a-0.1'
  if (version.startsWith('0.2')) return 'a2a-0.2'
  if (version.startsWith('1.')) return 'a2a-1.0'
  if (version !== '' || Array.isArray(skills)) return 'a2a-0.3'
  return Array.isArray(capabilities) ? 'interface' : 'unknown'
}

const common = ['version', 'capabilities', 'defaultInputModes', 'defaultOutputModes', 'skills']
/** The fields that each form requires in addition to name and description, which every entry needs. */
const required: Record<CardForm, readonly string[]> = {
  'a2a-1.0': ['supportedInterfaces', ...common],
  'a2a-0.3': ['protocolVersion', 'url', ...common],
  'a2a-0.2': ['url', ...common],
  'a2a-0.1': ['url', ...common],
  interface: ['agent_id', 'capabilities'],
  unknown: [],
}

function missing(document: Record<string, unknown>, form: CardForm): Finding[] {
  const lacking = required[form].filter((field) => document[field] === undefined)
  return [
    ...(form === 'unknown'
      ? [
          warning(
            'unknown_form',
            '',
            'It is not a known version of an A2A card.',
            'State protocolVersion and skills.',
          ),
        ]
      : []),
    ...(form === 'a2a-0.1' || form === 'a2a-0.2'
      ? [info('old_protocol', '/protocolVersion', 'Few clients support this version.', 'Serve 0.3 or 1.0.')]
      : []),
    ...lacking.map((field) =>
      warning(
        'missing_field',
        `/${field}`,
        `${form} requires it; strict clients refuse the card.`,
        `Add ${field}.`,
      ),
    ),
  ]
}

/** The capabilities of the registry's own form. */
function ofCapabilities({ capabilities }: Record<string, unknown>): Finding[] {
  const names = new Set<unknown>()
  return (Array.isArray(capabilities) ? capabilities : []).flatMap((capability, index) => {
    const name = isRecord(capability) ? (capability.id ?? capability.name) : undefined
    const isFirst = !names.has(name)
    names.add(name)
    if (name === undefined || isFirst) return []
    const message = 'Another capability has this name: only the first can be called.'
    return [warning('duplicate_capability', `/capabilities/${index}`, message, 'Give each its own name.')]
  })
}

function ofSkills({ skills, capabilities }: Record<string, unknown>): Finding[] {
  if (skills === undefined) return []
  if (!Array.isArray(skills))
    return [warning('wrong_type', '/skills', 'It is not an array.', 'List the skills.')]
  const ids = new Set<unknown>()
  const findings: Finding[] = []
  for (const [index, skill] of skills.entries()) {
    const at = `/skills/${index}`
    if (!isRecord(skill)) {
      findings.push(
        warning('wrong_type', at, 'A skill is an object.', 'Give it an id, a name and a description.'),
      )
      continue
    }
    for (const field of ['id', 'name', 'description', 'tags']) {
      if (skill[field] !== undefined && skill[field] !== '') continue
      findings.push(
        warning('missing_field', `${at}/${field}`, `A skill needs its ${field}.`, `Add ${field}.`),
      )
    }
    if (skill.id !== undefined && ids.has(skill.id)) {
      findings.push(
        warning('duplicate_skill', `${at}/id`, 'Another skill has this id.', 'Give each skill its own id.'),
      )
    }
    ids.add(skill.id)
  }
  if (skills.length > maxCapabilities) {
    findings.push(warning('too_many_skills', '/skills', `Only the first ${maxCapabilities} are listed.`))
  }
  if (skills.length === 0 && !Array.isArray(capabilities)) {
    findings.push(
      warning(
        'no_skills',
        '/skills',
        'Without skills, searches cannot find the agent by what it can do.',
        'List its skills.',
      ),
    )
  }
  return findings
}

const Interfaces = z.array(z.looseObject({ url: z.string() }).catch({ url: '' })).catch([])

function ofUrls(document: Record<string, unknown>): Finding[] {
  const stated = [
    ['/url', document.url],
    ...Interfaces.parse(document.supportedInterfaces).map(({ url }, at) => [
      `/supportedInterfaces/${at}/url`,
      url,
    ]),
    ...Interfaces.parse(document.additionalInterfaces).map(({ url }, at) => [
      `/additionalInterfaces/${at}/url`,
      url,
    ]),
  ] as [string, unknown][]
  return stated.flatMap(([field, url]) => (url === undefined ? [] : ofUrl(field, url)))
}

function ofUrl(field: string, url: unknown): Finding[] {
  if (typeof url !== 'string' || !URL.canParse(url)) {
    return [warning('wrong_url', field, 'It is not an absolute URL.', 'Begin it with https://.')]
  }
  const { protocol, hostname } = new URL(url)
  if (/^(localhost|127\.|10\.|192\.168\.|\[?::1)|\.(local|internal)$/.test(hostname)) {
    return [warning('private_url', field, 'It cannot be reached from outside.', 'State the public address.')]
  }
  if (protocol === 'https:' || protocol === 'wss:') return []
  return [
    warning('insecure_url', field, 'Calls to it can be read and changed in transit.', 'Serve it over https.'),
  ]
}

function ofSigning({ signatures }: Record<string, unknown>, form: CardForm): Finding[] {
  if (form === 'interface' || (Array.isArray(signatures) && signatures.length > 0)) return []
  return [
    info(
      'unsigned',
      '/signatures',
      'Readers cannot tell whether it was changed.',
      'Sign it (A2A 1.0, section 8.4).',
    ),
  ]
}

function ofTexts({ name, description, tags, capabilities, card }: Manifest): Finding[] {
  const flags = contentFlags({ name, description, tags, capabilities, card })
  const stated = typeof card.description === 'string' ? card.description : ''
  return [
    ...flags.map((flag) =>
      warning(
        flag,
        '',
        'A text addresses a language model instead of describing the agent.',
        'Describe what the agent does.',
      ),
    ),
    ...(stated.length > maxDescription
      ? [
          info(
            'long_description',
            '/description',
            `Only ${maxDescription} characters are listed.`,
            'Shorten it.',
          ),
        ]
      : []),
  ]
}
