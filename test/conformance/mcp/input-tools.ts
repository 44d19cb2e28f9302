import { randomUUID } from 'node:crypto'
import { isRecord } from '../../../schemas/json.ts'
import { accepted, elicit, inputRequired, mint, type Question, roots, sample, verified } from './ask.ts'
import { text } from './content.ts'
import type { FixtureTool } from './tools.ts'

const textResult = (words: string) => ({ content: [text(words)] })
const userName = elicit('What is your name?', { name: { type: 'string' } })
const confirm = { confirm: elicit('Please confirm', { ok: { type: 'boolean' } }) }

const answersOf = (params: Readonly<Record<string, unknown>>) =>
  isRecord(params.inputResponses) ? params.inputResponses : {}

/** The tools that need more of the client and ask for it in their result (SEP-2322). */
export const inputTools: Readonly<Record<string, FixtureTool>> = {
  test_missing_capability: {
    description: 'Needs sampling',
    run: ({ params, capabilities }) =>
      answersOf(params).llm_answer === undefined
        ? inputRequired({ llm_answer: sample('Reply with the single word: pong', 16) }, capabilities)
        : textResult('sampling round-trip complete'),
  },
  test_input_required_result_elicitation: {
    description: 'Asks for a name',
    run({ params, capabilities }) {
      const name = accepted(params.inputResponses, 'user_name')?.name
      return typeof name === 'string'
        ? textResult(`Hello, ${name}!`)
        : inputRequired({ user_name: userName }, capabilities)
    },
  },
  test_input_required_result_sampling: {
    description: 'Asks the model of the client',
    run({ params, capabilities }) {
      const answer = answersOf(params).capital_question
      if (isRecord(answer)) return textResult(`Sampling response: ${JSON.stringify(answer.content)}`)
      return inputRequired({ capital_question: sample('What is the capital of France?', 100) }, capabilities)
    },
  },
  test_input_required_result_list_roots: {
    description: 'Asks for roots',
    run({ params, capabilities }) {
      const answer = answersOf(params).client_roots
      if (isRecord(answer) && Array.isArray(answer.roots)) return textResult(`${answer.roots.length} roots`)
      return inputRequired({ client_roots: roots }, capabilities)
    },
  },
  test_input_required_result_request_state: {
    description: 'Keeps its state with the client',
    run({ params, capabilities }) {
      const state = verified(params.requestState)
      if (state && accepted(params.inputResponses, 'confirm')) return textResult('state-ok')
      return inputRequired(confirm, capabilities, mint({ nonce: randomUUID() }))
    },
  },
  test_input_required_result_tampered_state: {
    description: 'Refuses a state that is not its own',
    run({ params, capabilities }) {
      const state = verified(params.requestState)
      if (state && accepted(params.inputResponses, 'confirm')) return textResult('integrity-ok')
      return inputRequired(confirm, capabilities, mint({ nonce: randomUUID() }))
    },
  },
  test_input_required_result_multiple_inputs: {
    description: 'Asks for three things at once',
    run({ params, capabilities }) {
      const { greeting, client_roots } = answersOf(params)
      const name = accepted(params.inputResponses, 'user_name')?.name
      if (typeof name === 'string' && isRecord(greeting) && isRecord(client_roots))
        return textResult(`Hi ${name}`)
      return inputRequired(
        { user_name: userName, greeting: sample('Generate a greeting', 50), client_roots: roots },
        capabilities,
        mint({ nonce: randomUUID() }),
      )
    },
  },
  test_input_required_result_multi_round: {
    description: 'Asks twice',
    run({ params, capabilities }) {
      const state = verified(params.requestState)
      const round = Number(state?.round ?? 0)
      if (round === 2)
        return textResult(`${state?.name} likes ${accepted(params.inputResponses, 'step2')?.color}`)
      const question: Record<string, Question> =
        round === 0
          ? { step1: elicit('Step 1: What is your name?', { name: { type: 'string' } }) }
          : { step2: elicit('Step 2: What is your favorite color?', { color: { type: 'string' } }) }
      const name = accepted(params.inputResponses, 'step1')?.name
      return inputRequired(question, capabilities, mint({ round: round + 1, name, nonce: randomUUID() }))
    },
  },
  test_input_required_result_capabilities: {
    description: 'Asks only what the client can answer',
    run({ params, capabilities }) {
      if (params.inputResponses !== undefined) return textResult('answered')
      const all: Record<string, [string, Question]> = {
        elicitation: ['user_name', userName],
        sampling: ['greeting', sample('Generate a short greeting', 50)],
        roots: ['client_roots', roots],
      }
      const able = Object.entries(all).filter(([capability]) => capability in capabilities)
      if (able.length === 0) return textResult('Nothing can be asked.')
      return inputRequired(Object.fromEntries(able.map(([, question]) => question)), capabilities)
    },
  },
}
