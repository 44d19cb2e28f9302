import { expect, test } from 'vitest'
import type { JsonObject } from '../../schemas/json.ts'
import { messageOf } from '../../src/remote/a2a/message.ts'

const skill = (inputModes: string[]) => ({ id: 'transcribe', name: 'Transcribe', inputModes })
const metadata = { skillId: 'transcribe' }
const recording = { raw: 'UklGRg==', mediaType: 'audio/wav', filename: 'a.wav' }

test.each([['audio/wav'], ['text/plain'], ['application/json']])(
  'a skill that reads %s gets the parts of a message as they are, so that a caller can send it a file',
  (mode) => {
    const card = { skills: [skill([mode])] }
    const parts: JsonObject[] = [{ text: 'In French.' }, recording]
    expect(messageOf('transcribe', { parts }, { card })).toEqual({ parts, metadata })
    expect(messageOf('send_message', { parts }, { card: { defaultInputModes: [mode] } })).toEqual({ parts })
  },
)

test.each([
  ['an empty list', { parts: [] }],
  ['texts', { parts: ['bolt', 'nut'] }],
  ['objects of another kind', { parts: [{ number: 7, text: 'bolt' }] }],
  ['parts beside another field', { parts: [recording], car: 'Volvo' }],
])('%s under the name parts is data of the skill', (_, params) => {
  const card = { skills: [skill(['application/json'])] }
  const data = { data: params, mediaType: 'application/json' }
  expect(messageOf('transcribe', params as JsonObject, { card })).toEqual({ parts: [data], metadata })
})
