import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../schemas/json.ts'
import { validate } from '../../src/remote/json-schema/json-schema.ts'
import { rounds } from '../support/rounds.ts'

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  validateFormats: false,
  unevaluated: false,
  logger: false,
})

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, -1, 1.5, 7, '', 'a', 'ab', 'abc', '😀😀'),
  fc.integer({ min: -5, max: 20 }),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'dd'), tie('value'), { maxKeys: 4 }),
  ),
}))

const key = fc.constantFrom('a', 'b', 'c', 'dd')
const small = fc.integer({ min: 0, max: 5 })
const { schema } = fc.letrec<{ schema: JsonSchema | boolean }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonSchema | boolean>(
      true,
      false,
      {},
      { $ref: '#/$defs/first' },
      { $ref: '#/$defs/second' },
    ),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'boolean', 'null'),
          fc.uniqueArray(fc.constantFrom('string', 'number', 'object', 'array'), {
            minLength: 1,
            maxLength: 3,
          }),
        ),
        enum: fc.uniqueArray(leaf, { minLength: 1, maxLength: 3, comparator: 'SameValueZero' }),
        const: leaf,
        minLength: small,
        maxLength: small,
        pattern: fc.constantFrom('^a', 'b$', '^[ab]+$', 'c'),
        minimum: small,
        maximum: small,
        exclusiveMinimum: small,
        exclusiveMaximum: small,
        multipleOf: fc.constantFrom(1, 2, 0.5),
        minItems: small,
        maxItems: small,
        items: tie('schema'),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        contains: tie('schema'),
        minContains: fc.constantFrom(0, 1, 2),
        required: fc.uniqueArray(key, { maxLength: 2 }),
        properties: fc.dictionary(key, tie('schema'), { maxKeys: 3 }),
        patternProperties: fc.dictionary(fc.constantFrom('^a', 'd'), tie('schema'), { maxKeys: 1 }),
        additionalProperties: tie('schema'),
        propertyNames: tie('schema'),
        minProperties: small,
        maxProperties: small,
        dependentRequired: fc.dictionary(key, fc.uniqueArray(key, { maxLength: 2 }), { maxKeys: 1 }),
        dependentSchemas: fc.dictionary(key, tie('schema'), { maxKeys: 1 }),
        allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        not: tie('schema'),
        if: tie('schema'),
        // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
        then: tie('schema'),
        else: tie('schema'),
      },
      { requiredKeys: [] },
    ),
  ) as fc.Arbitrary<JsonSchema | boolean>,
}))

/**
 * Ajv's result; undefined if the code that it compiles from a schema does not run (such as "items7 is not defined").
 */
function judged(root: JsonSchema, instance: unknown): boolean | undefined {
  try {
    return ajv.validate(root, instance)
  } catch {
    return undefined
  }
}

describe('params by a schema', () => {
  test('are valid exactly if Ajv says so', async () => {
    const property = fc.property(
      schema,
      value,
      fc.array(leaf, { minLength: 1, maxLength: 3 }),
      (generated, instance, enums) => {
        const root: JsonSchema = {
          ...(typeof generated === 'object' ? generated : { allOf: [generated] }),
          $defs: {
            first: { type: 'string', maxLength: 2 },
            second: { enum: enums.filter((x, i) => enums.indexOf(x) === i) },
          },
        }
        const judgement = judged(root, instance)
        fc.pre(judgement !== undefined)
        expect(validate(root, instance).length === 0, JSON.stringify([root, instance])).toBe(judgement)
      },
    )
    // The same schemas in each run: Ajv takes seconds to compile large ones.
    await fc.assert(property, { seed: 7, numRuns: rounds(300), interruptAfterTimeLimit: 4000 })
  }, 30_000)

  test.each<[string, JsonSchema, unknown, object[]]>([
    [
      'each fault has its place',
      {
        type: 'object',
        required: ['city'],
        properties: { days: { type: 'integer', maximum: 7 } },
        additionalProperties: false,
      },
      { days: 9, citty: 'Oslo' },
      [
        { pointer: '/city', detail: 'This field is required.' },
        { pointer: '/days', detail: 'This must be at most 7.' },
        { pointer: '/citty', detail: 'There is no such field.' },
      ],
    ],
    [
      'a list by draft 7',
      { items: [{ type: 'string' }], additionalItems: false },
      ['a', 1],
      [{ pointer: '/1', detail: 'There is no such field.' }],
    ],
    [
      'a field that draft 7 makes depend',
      { dependencies: { a: ['b'] } },
      { a: 1 },
      [{ pointer: '/b', detail: 'This field is required beside a.' }],
    ],
    ['null where OpenAPI lets it be', { type: 'string', nullable: true }, null, []],
    [
      'a tree that refers to itself',
      {
        $ref: '#/$defs/t',
        $defs: { t: { properties: { next: { $ref: '#/$defs/t' }, n: { type: 'number' } } } },
      },
      { next: { next: { n: 'x' } } },
      [{ pointer: '/next/next/n', detail: 'This must be number, not the text "x".' }],
    ],
  ])('%s', (_, schema, params, errors) => {
    expect(validate(schema, params)).toEqual(errors)
  })

  const doubling = {
    $defs: Object.fromEntries(
      Array.from({ length: 60 }, (_, level) => [
        `l${level}`,
        { allOf: [{ $ref: `#/$defs/l${level + 1}` }, { $ref: `#/$defs/l${level + 1}` }] },
      ]),
    ),
    $ref: '#/$defs/l0',
  }
  test.each<[string, JsonSchema, unknown]>([
    ['refers to itself and nothing else', { $ref: '#' }, {}],
    ['doubles at each of sixty steps', doubling, {}],
    ['has a pattern that explodes', { pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`],
    ['has a pattern that looks back', { pattern: '(a*)*\\1b' }, 'a'.repeat(200)],
    ['has a pattern that is none', { pattern: '[' }, 'a'],
    ['refers to somewhere else', { $ref: 'https://example.com/schema.json' }, {}],
    ['refers to nothing', { $ref: '#/$defs/none/%E0%A4%A' }, {}],
    [
      'is not made of schemas',
      { type: 7, properties: 'x', items: 3, allOf: {}, required: 'a', enum: 'b', minimum: '1' },
      { a: [1] },
    ],
    ['calls for a type that nobody knows', { type: ['string', 'file'] }, 4],
    ['refers to an anchor', { type: 'array', $defs: { n: { $anchor: 'n' } }, items: { $ref: '#n' } }, ['a']],
    ['forbids what is somewhere else', { not: { $ref: 'https://example.com/schema.json' } }, 1],
    ['forbids a pattern that could explode', { not: { pattern: '^(ab)+$' } }, 'x'],
    ['tells two forms apart by their formats', { oneOf: [{ format: 'email' }, { format: 'uri' }] }, 'a@b.c'],
    ['tells two forms apart by what is unique', { oneOf: [{ uniqueItems: true }, { minItems: 2 }] }, [1, 1]],
    ['decides by what is not looked at', { if: { not: { format: 'uri' } }, else: { maxLength: 3 } }, 'a@b.c'],
    [
      'is of draft 7 and says something beside a reference',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $ref: '#/definitions/s',
        maxLength: 1,
        definitions: { s: { type: 'string' } },
      },
      'abc',
    ],
    ['lets any of several forms be null', { nullable: true, allOf: [{ type: 'string' }] }, null],
    ['asks for cents of a large sum', { multipleOf: 0.01 }, 1234567890.07],
    ['asks for letters, which may be of any script', { pattern: '^\\w+$' }, 'Zürich'],
  ])('pass if the schema %s', (_, hostile, params) => {
    expect(validate(hostile, params)).toEqual([])
  })

  test('are checked in a bounded number of steps', () => {
    const wide = { items: { anyOf: Array.from({ length: 100 }, () => ({ type: 'string', minLength: 2 })) } }
    let reads = 0
    const counted = new Proxy(wide, {
      get: (target, key) => {
        reads += 1
        return Reflect.get(target, key)
      },
    })
    expect(
      validate(
        counted,
        Array.from({ length: 100_000 }, () => 1),
      ),
    ).toEqual([])
    expect(reads).toBeLessThan(200_000)
  })

  const names = Array.from({ length: 10_000 }, (_, number) => `field${number}`)
  const listOf = (inner: JsonSchema) => ({ items: { anyOf: [inner, true] } })
  // Each would block the event loop for seconds or longer: the test proves that it ends.
  test.each<[string, JsonSchema, unknown]>([
    ['has forty forks', { pattern: `${'(a|a)'.repeat(39)}b` }, 'a'.repeat(60)],
    ['repeats up to a bound, and again', { pattern: `${'a{0,999}'.repeat(8)}b` }, 'a'.repeat(999)],
    ['has sixty options', { pattern: `${'a?'.repeat(60)}${'a'.repeat(60)}c` }, 'a'.repeat(60)],
    ['has a form that is not anchored', { pattern: '^z|.*.*.*=' }, 'a'.repeat(1000)],
    [
      'has a pattern for each of many long texts',
      { items: { allOf: Array.from({ length: 100 }, () => ({ not: { pattern: '^a*a*b' } })) } },
      Array.from({ length: 1000 }, () => 'a'.repeat(999)),
    ],
    ['requires ten thousand fields of each', listOf({ required: names }), names.map(() => ({}))],
    [
      'has ten thousand patterns for each',
      listOf({ patternProperties: Object.fromEntries(names.map((name) => [name, false])) }),
      names.map(() => ({})),
    ],
    ['compares each with a megabyte', listOf({ const: 'x'.repeat(1_000_000) }), names],
    ['goes a long way for each', listOf({ $ref: `#/${'properties/'.repeat(3000)}` }), names],
    [
      'looks at a long list again and again',
      { allOf: Array.from({ length: 15_000 }, () => ({ minItems: 1 })) },
      Array.from({ length: 95_000 }, () => 1),
    ],
    [
      'counts a long text again and again',
      { allOf: Array.from({ length: 5_000 }, () => ({ minLength: 249_700 })) },
      `${'\u{1f600}'.repeat(249_600)}${'a'.repeat(200)}`,
    ],
    [
      'has a thousand patterns of all scripts',
      { anyOf: Array.from({ length: 1000 }, (_, at) => ({ pattern: `^${'\\p{L}'.repeat(39)}${at}` })) },
      'é'.repeat(40),
    ],
  ])('pass soon if the schema %s', (_, hostile, params) => {
    const { user } = process.cpuUsage()
    expect(validate(hostile, params)).toEqual([])
    expect(process.cpuUsage().user - user).toBeLessThan(1_000_000)
  })

  test('have at most twenty errors, however many there are', () => {
    const errors = validate(
      { items: { type: 'string' } },
      Array.from({ length: 500 }, () => 1),
    )
    expect(errors).toHaveLength(20)
  })
})
