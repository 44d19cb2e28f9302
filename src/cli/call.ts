import { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import { listedActions, packageNameOf } from '../../schemas/names.ts'
import { type InputRequired, inputRequiredIn } from '../../schemas/task.ts'
import { asWord } from '../common/ascii.ts'
import { openClient } from './client.ts'
import { canAsk, parseObject, readObject } from './input.ts'
import { print, say } from './output.ts'
import { showWaiting } from './progress.ts'

/**
 * Calls an action and prints its output. `input`: the params as one JSON object, @FILE, or - for standard input; or as
 * fields `name=text` and `name:=json`.
 */
export async function call(to: string, action: string, input: readonly string[]): Promise<void> {
  const params = await paramsOf(input)
  const output = await answerOf(to, action, params)
  print(output)
  const question = inputRequiredIn(output)
  if (question) say(`It waits for an answer: ${replyTo(to, question)}`)
}

/** The command that answers an agent in words, to fill in. */
function replyTo(to: string, { task_id }: InputRequired): string {
  const fields = [`task_id=${task_id}`, 'input:={"text": "ANSWER"}']
  return `dragoman call ${[to, listedActions.continuation, ...fields].map(asWord).join(' ')}`
}

async function answerOf(to: string, action: string, params: Record<string, unknown>): Promise<Json> {
  using _waiting = showWaiting()
  await using client = await openClient()
  try {
    return await client.send({ to, action, params })
  } catch (fault) {
    throw withApproval(withCredential(withInputHint(fault, to), to), to)
  }
}

/** How to approve a package is for the person at a terminal: a model that reads this output could run the command. */
function withApproval(fault: unknown, to: string): unknown {
  if (!(fault instanceof Failure) || fault.code !== 'approval_required' || !canAsk()) return fault
  const hint = `The operator looks at it and approves it with: dragoman allow ${asWord(packageNameOf(to))} (docs/running.md)`
  return new Failure(fault.code, fault.message, { ...fault.details, hint }, fault)
}

/** The command that stores a credential takes the name of the agent. */
function withCredential(fault: unknown, to: string): unknown {
  if (!(fault instanceof Failure) || !fault.details.hint?.includes('set_credential')) return fault
  const command = `dragoman credentials set ${asWord(packageNameOf(to))}`
  const hint = fault.details.hint.replace('set_credential', command)
  return new Failure(fault.code, fault.message, { ...fault.details, hint }, fault)
}

/** Refusals of params name each field; where all of them are described is said here. */
function withInputHint(fault: unknown, to: string): unknown {
  if (!(fault instanceof Failure) || fault.code !== 'invalid_request') return fault
  if (fault.details.hint !== undefined || fault.details.errors === undefined) return fault
  const hint = `To see what its actions take: dragoman resolve ${to}`
  return new Failure(fault.code, fault.message, { ...fault.details, hint }, fault)
}

const paramsHint = `Write fields, such as url=https://example.com/ and limit:=5; or an object in single quotes, such as '{"url": "https://example.com/"}'; or name a file: @params.json`

async function paramsOf(input: readonly string[]): Promise<Record<string, unknown>> {
  const [first = '{}'] = input
  if (input.length > 1 || field.test(first)) return fieldsOf(input)
  if (first === '-') return await readObject(first)
  return first.startsWith('@') ? await readObject(first.slice(1)) : parseObject(first, 'PARAMS', paramsHint)
}

const field = /^([\w.-]+)(:?=)(.*)$/s

function fieldsOf(input: readonly string[]): Record<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const [name, value] of input.map(readField)) {
    if (fields.has(name))
      throw new Failure('invalid_request', `${name} is given twice.`, {
        hint: `A list is JSON: ${name}:='["a", "b"]'`,
      })
    fields.set(name, value)
  }
  return Object.fromEntries(fields)
}

/** The name and the value of a field: a text after `=`, JSON after `:=`. Throws Failure `invalid_request`. */
function readField(text: string): [string, unknown] {
  const [, name = '', sign, value = ''] = field.exec(text) ?? []
  if (sign === '=') return [name, value]
  try {
    if (sign === ':=') return [name, JSON.parse(value)]
  } catch (fault) {
    throw new Failure('invalid_request', `The value of ${name} is not JSON.`, { hint: paramsHint }, fault)
  }
  throw new Failure('invalid_request', `${text} is not a field.`, { hint: paramsHint })
}
