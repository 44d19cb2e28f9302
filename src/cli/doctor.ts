import { stat } from 'node:fs/promises'
import { version } from '../assets.ts'
import { type Config, keysPath, readConfig, settings, storePlace } from '../config.ts'
import { nameOf, versionOf } from '../store/open-store.ts'
import { placeOf } from '../store/postgres/place.ts'
import { openClient } from './client.ts'
import { print } from './output.ts'

interface Check {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
}

const secret = /TOKEN|KEY/

/** Checks what a deployment needs and lists every setting. The exit code is 1 where a check fails. */
export async function doctor(json: boolean): Promise<void> {
  const config = readConfig()
  const store = await storeCheck(config)
  // Without its store a gateway would wait for it.
  const registry = store.every(({ ok }) => ok) ? [await searchCheck(config)] : []
  const checks = [nodeCheck(), ...store, ...registry, ...(await keyCheck(config)), contactCheck(config)]
  const listed = Object.entries(settings).map(([name, [, description]]) => ({
    name,
    value: shown(name, Reflect.get(config, name)),
    description,
  }))
  if (checks.some((check) => !check.ok)) process.exitCode = 1
  if (json) {
    print({ version, data: config.data, checks, settings: listed })
    return
  }
  for (const { check, ok, detail } of checks) print(`${ok ? 'ok  ' : 'FAIL'} ${check}: ${detail}`)
  for (const { name, value, description } of listed) print(`${name}=${value}\n     ${description}`)
}

function nodeCheck(): Check {
  const { node } = process.versions
  return { check: 'node', ok: Number(node.split('.')[0]) >= 24, detail: node }
}

async function storeCheck(config: Config): Promise<Check[]> {
  if (config.DRAGOMAN_URL) return []
  const place = storePlace(config)
  const check = 'store'
  try {
    return [{ check, ok: true, detail: `${nameOf(place)}, version ${await versionOf(place)}` }]
  } catch (fault) {
    return [{ check, ok: false, detail: fault instanceof Error ? fault.message : String(fault) }]
  }
}

async function searchCheck(config: Config): Promise<Check> {
  const where = config.DRAGOMAN_URL ?? config.data
  try {
    await using client = await openClient(config)
    const params = { limit: 1 }
    const { total } = (await client.send({ to: 'svc.registry', action: 'search_agents', params })) as {
      total: number
    }
    return { check: 'registry', ok: true, detail: `${total} agents in ${where}` }
  } catch (fault) {
    return {
      check: 'registry',
      ok: false,
      detail: `${where}: ${fault instanceof Error ? fault.message : fault}`,
    }
  }
}

async function keyCheck(config: Config): Promise<Check[]> {
  if (config.DRAGOMAN_URL) return []
  const path = keysPath(config)
  const found = await stat(path).catch(() => undefined)
  if (!found) return [{ check: 'signing key', ok: false, detail: `${path} is not there yet` }]
  const mode = (found.mode & 0o777).toString(8)
  return [{ check: 'signing key', ok: mode === '600', detail: `${path}, mode ${mode}` }]
}

/** Not a fault: everything but the wiki agent works without. */
function contactCheck({ DRAGOMAN_CONTACT: contact }: Config): Check {
  return { check: 'contact', ok: true, detail: contact ?? 'not set: the wiki agent answers not_configured' }
}

function shown(name: string, value: unknown): string {
  if (value === undefined) return ''
  if (secret.test(name)) return '(set)'
  if (name === 'DATABASE_URL') return placeOf(String(value))
  return Array.isArray(value) ? value.join(',') : String(value)
}
