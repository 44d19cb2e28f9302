import { expect, it } from 'vitest'
import { productsOf } from '../../src/search/query/products.ts'

it('a maker has products whose names do not say so', () => {
  expect(productsOf('google')).toContain('gmail')
  expect(productsOf('nobody')).toEqual([])
})
