import { Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { version } from '../app/assets.ts'
import { type Config, readConfig } from '../app/config.ts'
import { settings } from '../app/settings.ts'
import { engineLocation } from '../search/elasticsearch/client.ts'
import { databaseAddress } from '../store/postgres/redact-url.ts'
import { type Check, checkDeployment } from './checks.ts'
import { asTyped } from './invocation.ts'
import { print } from './output.ts'

const secret = /TOKEN|KEY|LOGINS/

/**
 * Checks what a deployment needs and shows the settings that are set; `all` describes every setting and the limits of
 * the sandbox. The exit code is 1 if a check fails.
 */
export async function doctor(all: boolean, json: boolean): Promise<void> {
  const config = readOr()
  if (config instanceof Failure) return reportWrong(config, all, json)
  const checks = await checkDeployment(config)
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
  printChecks(checks, all)
  if (all) {
    for (const { name, value, description } of listed) print(`${name}=${value}\n     ${description}`)
    return
  }
  const names = [...config.set].sort()
  print(names.length === 0 ? 'No setting is set.' : 'Settings that are set:')
  for (const name of names) print(`     ${name}=${shown(name, Reflect.get(config, name))}`)
  print(asTyped('dragoman doctor --settings describes every setting.'))
}

function readOr(): Config | Failure {
  try {
    return readConfig()
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
}

/** Nothing else can be checked until the settings can be read. */
function reportWrong(
  { message, details: { errors = [], hint } }: Failure,
  all: boolean,
  json: boolean,
): void {
  process.exitCode = 1
  const whole = { pointer: '', detail: hint === undefined ? message : `${message} ${hint}` }
  const checks = (errors.length > 0 ? errors : [whole]).map(({ pointer, detail }) => {
    return { check: 'settings', ok: false, detail: [pointer.slice(1), detail].filter(Boolean).join(': ') }
  })
  const described = Object.entries(settings).map(([name, [, description]]) => ({ name, description }))
  if (json) {
    print({ version, checks, settings: described })
    return
  }
  printChecks(checks, all)
  if (all) for (const { name, description } of described) print(`${name}\n     ${description}`)
  else print(asTyped('dragoman doctor --settings describes every setting.'))
}

function printChecks(checks: readonly Check[], all: boolean): void {
  for (const { check, ok, detail, more = [] } of checks) {
    print(`${ok ? 'ok  ' : 'FAIL'} ${check}: ${detail}`)
    if (all) for (const line of more) print(`       ${line}`)
  }
}

function shown(name: string, value: unknown): string {
  if (value === undefined) return ''
  if (secret.test(name)) return '(set)'
  if (name === 'DATABASE_URL') return databaseAddress(String(value))
  if (name === 'DRAGOMAN_SEARCH') return engineAddress(String(value))
  if (Array.isArray(value)) return value.join(',')
  return isRecord(value)
    ? Object.entries(value)
        .map(([key, number]) => `${key}=${number}`)
        .join(',')
    : String(value)
}

/** The setting without user and password. */
function engineAddress(setting: string): string {
  const location = engineLocation(setting)
  return location ? `elasticsearch+${location.url}/${location.index}` : setting
}
