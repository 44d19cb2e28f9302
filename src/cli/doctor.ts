import { isRecord } from '../../schemas/json.ts'
import { version } from '../app/assets.ts'
import { readConfig } from '../app/config.ts'
import { settings } from '../app/settings.ts'
import { databaseAddress } from '../store/postgres/redact-url.ts'
import { checkDeployment } from './checks.ts'
import { print } from './output.ts'

const secret = /TOKEN|KEY/

/** Checks what a deployment needs and lists every setting. The exit code is 1 if a check fails. */
export async function doctor(json: boolean): Promise<void> {
  const config = readConfig()
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
  for (const { check, ok, detail } of checks) print(`${ok ? 'ok  ' : 'FAIL'} ${check}: ${detail}`)
  for (const { name, value, description } of listed) print(`${name}=${value}\n     ${description}`)
}

function shown(name: string, value: unknown): string {
  if (value === undefined) return ''
  if (secret.test(name)) return '(set)'
  if (name === 'DATABASE_URL') return databaseAddress(String(value))
  if (Array.isArray(value)) return value.join(',')
  return isRecord(value)
    ? Object.entries(value)
        .map(([key, number]) => `${key}=${number}`)
        .join(',')
    : String(value)
}
