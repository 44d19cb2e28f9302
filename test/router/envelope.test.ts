import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Envelope, envelopeShape, readEnvelope } from '../../schemas/envelope.ts'

test('an envelope that is checked by hand has the verdict of its type', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('', 'a', 'a'.repeat(200), 'a'.repeat(201), 'a'.repeat(220), 'a'.repeat(221), 1, null),
  )
  const params = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom([], null, 'text', {}))
  const envelopes = fc.record(
    { to: text, action: text, params, message_id: text, other: fc.constant(1) },
    { requiredKeys: [] },
  )
  const verdict = (read: (value: Envelope) => unknown, value: unknown) => {
    try {
      return { value: read(value as Envelope) }
    } catch (failure) {
      return { failure: String(failure) }
    }
  }
  void fc.assert(
    fc.property(fc.oneof(envelopes, fc.jsonValue()), (value) => {
      expect(verdict(readEnvelope, value)).toEqual(
        verdict((envelope) => envelopeShape.parse(envelope), value),
      )
    }),
    { numRuns: 2_000 },
  )
})
