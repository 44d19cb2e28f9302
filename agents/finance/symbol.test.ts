import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { alternativesOf, assetClasses, readSymbol } from './symbol.ts'

describe('a symbol', () => {
  test.each([
    ['BTC', 'crypto', 'BTC-USD'],
    ['XBT', 'crypto', 'BTC-USD'],
    ['BTC-USD', 'crypto', 'BTC-USD'],
    ['BTC/EUR', 'crypto', 'BTC-EUR'],
    ['BTCUSD', 'crypto', 'BTC-USD'],
    ['XBTUSD', 'crypto', 'BTC-USD'],
    ['ETHBTC', 'crypto', 'ETH-BTC'],
    ['BTCUSDT', 'crypto', 'BTC-USDT'],
    ['WBTC', 'crypto', 'WBTC-USD'],
    ['TUSD', 'crypto', 'TUSD-USD'],
    ['PYUSD', 'crypto', 'PYUSD-USD'],
    ['NOVEL-USD', 'crypto', 'NOVEL-USD'],
    ['AAPL', 'stock', 'AAPL'],
    ['T', 'stock', 'T'],
    ['BRK.B', 'stock', 'BRK.B'],
    ['BRK-B', 'stock', 'BRK.B'],
    ['BRK/B', 'stock', 'BRK.B'],
    ['ABC-T', 'stock', 'ABC.T'],
    ['7203.T', 'stock', '7203.T'],
    ['VOD.L', 'stock', 'VOD.L'],
    ['SAP.DE', 'stock', 'SAP.DE'],
    ['FOOUSD', 'stock', 'FOOUSD'],
    ['EUR-USDT', 'crypto', 'EUR-USDT'],
    ['EURUSD=X', 'fx', 'EUR/USD'],
    ['EUR/USD=X', 'fx', 'EUR/USD'],
    ['JPY=X', 'fx', 'USD/JPY'],
    ['XAUUSD=X', 'fx', 'XAU/USD'],
    ['EUR/USD', 'fx', 'EUR/USD'],
    ['EUR-USD', 'fx', 'EUR/USD'],
    ['EURUSD', 'fx', 'EUR/USD'],
    ['CHFSEK', 'fx', 'CHF/SEK'],
    ['^GSPC', 'index', '^GSPC'],
    ['^STOXX50E', 'index', '^STOXX50E'],
  ])('%s is %s %s', (symbol, asset_class, resolved) => {
    expect(readSymbol(symbol, undefined, 'USD')).toMatchObject({ asset_class, resolved })
  })

  test.each([
    ['BTC', 'stock', 'BTC'],
    ['FOOUSD', 'crypto', 'FOO-USD'],
    ['AAPL', 'crypto', 'AAPL-USD'],
    ['GSPC', 'index', '^GSPC'],
    ['EUR', 'fx', 'EUR/USD'],
    ['EURUSD=X', 'fx', 'EUR/USD'],
    ['JPY=X', 'fx', 'USD/JPY'],
    ['EURUSD', 'fx', 'EUR/USD'],
    ['ETH', 'stock', 'ETH'],
    ['DOGEUSD', 'stock', 'DOGEUSD'],
  ] as const)('%s with asset_class %s is %s', (symbol, asset_class, resolved) => {
    expect(readSymbol(symbol, asset_class, 'USD')).toMatchObject({ asset_class, resolved })
  })

  test('has dollars as its currency only on an American exchange', () => {
    const currencies = ['AAPL', 'BRK.B', 'VOD.L', 'SAP.DE', '7203.T'].map((symbol) =>
      Reflect.get(readSymbol(symbol, undefined, 'USD'), 'currency'),
    )
    expect(currencies).toEqual(['USD', 'USD', null, null, null])
  })

  test('that is a bare crypto ticker is priced in the requested currency, a pair in its own', () => {
    expect(readSymbol('BTC', undefined, 'EUR').resolved).toBe('BTC-EUR')
    expect(readSymbol('BTC-GBP', undefined, 'EUR').resolved).toBe('BTC-GBP')
  })

  test.each([
    ['BTC-BTC', undefined],
    ['BRK.B', 'crypto'],
    ['BTC/USD', 'stock'],
    ['USD=X', undefined],
    ['EUREUR=X', undefined],
    ['A=B', undefined],
    ['=X', undefined],
    ['^', undefined],
    ['A^B', undefined],
    ['^GSPC', 'stock'],
    ['AAPL', 'fx'],
    ['../X', undefined],
    ['..', undefined],
  ] as const)('%s as %s is refused', (symbol, asset_class) => {
    expect(() => readSymbol(symbol, asset_class, 'USD')).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })

  test('that names a share and a crypto asset shows the other one', () => {
    expect(alternativesOf('COMP', readSymbol('COMP', undefined, 'USD'))).toEqual([
      { symbol: 'COMP', asset_class: 'stock' },
    ])
    expect(alternativesOf('COMP', readSymbol('COMP', 'stock', 'USD'))).toEqual([
      { symbol: 'COMP', asset_class: 'crypto' },
    ])
    expect(alternativesOf('AAPL', readSymbol('AAPL', undefined, 'USD'))).toEqual([])
  })

  test('of any accepted characters resolves to a harmless name or is refused', async () => {
    const letters = fc.constantFrom(...'ABTUSDCXE0129.^=-/')
    const classes = fc.constantFrom(undefined, ...assetClasses)
    await fc.assert(
      fc.property(
        fc.string({ unit: letters, minLength: 1, maxLength: 24 }),
        classes,
        (symbol, asset_class) => {
          try {
            expect(readSymbol(symbol, asset_class, 'USD').resolved).toMatch(
              /^\^?[A-Z0-9]+([./-][A-Z0-9]+){0,2}$/,
            )
          } catch (thrown) {
            if (!(thrown instanceof Failure)) throw thrown
          }
        },
      ),
    )
  })
})
