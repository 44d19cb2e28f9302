import { z } from 'zod'
import type { Pair } from '../symbol.ts'
import { askJson, expectAnswer, Price, type PriceSource, type Provider, Seconds, under } from './provider.ts'

/** Quote currencies of CoinGecko, which have the same letters in lower case. */
const quotes = new Set(['USD', 'EUR', 'GBP', 'JPY', 'CHF', 'CAD', 'AUD', 'BTC', 'ETH'])

/**
 * CoinGecko, without a key or with a demo key (https://docs.coingecko.com/reference/simple-price): an average over
 * exchanges. It has its own ids for coins, so only those of `coin-ids.ts` are requested.
 */
export function coingecko({
  ask,
  url: base,
  key,
}: PriceSource & { readonly key: string | undefined }): Provider<Pair> {
  const headers = key === undefined ? {} : { 'x-cg-demo-api-key': key }
  return {
    id: 'coingecko',
    name: 'CoinGecko',
    async quote(pair, call) {
      const id = coinIds[pair.base]
      if (id === undefined || !quotes.has(pair.quote)) return null
      const currency = pair.quote.toLowerCase()
      const query = { ids: id, vs_currencies: currency, include_last_updated_at: 'true', precision: 'full' }
      const url = under(base, '/api/v3/simple/price', query)
      const Coin = z.object({ [currency]: Price, last_updated_at: Seconds })
      return askJson(ask, { url, headers, ...call }, (answer) => {
        const found = expectAnswer(z.record(z.string(), z.unknown()), answer)
        if (Object.keys(found).length === 0) return null
        const { [currency]: price, last_updated_at } = expectAnswer(Coin, { status: 200, json: found[id] })
        return { price: String(price), currency: pair.quote, time: Number(last_updated_at), url }
      })
    },
  }
}

const list = `AAVE aave  ADA cardano  ALGO algorand  APT aptos  ARB arbitrum  ATOM cosmos  AVAX avalanche-2
  BAT basic-attention-token  BCH bitcoin-cash  BNB binancecoin  BTC bitcoin  COMP compound-governance-token
  CRO crypto-com-chain  CRV curve-dao-token  DAI dai  DASH dash  DOGE dogecoin  DOT polkadot  ENS ethereum-name-service
  ETC ethereum-classic  ETH ethereum  FIL filecoin  GRT the-graph  HBAR hedera-hashgraph  ICP internet-computer
  INJ injective-protocol  KSM kusama  LDO lido-dao  LEO leo-token  LINK chainlink  LTC litecoin  MANA decentraland
  NEAR near  NEO neo  OKB okb  OP optimism  PAXG pax-gold  PEPE pepe  QNT quant-network  SAND the-sandbox
  SEI sei-network  SHIB shiba-inu  SNX havven  SOL solana  STX blockstack  SUI sui  SUSHI sushi  TAO bittensor
  TIA celestia  TON the-open-network  TRX tron  UNI uniswap  USDC usd-coin  USDT tether  VET vechain
  WBTC wrapped-bitcoin  XAUT tether-gold  XDC xdce-crowd-sale  XLM stellar  XMR monero  XRP ripple  XTZ tezos
  YFI yearn-finance  ZEC zcash`

/** CoinGecko's ids of well-known crypto assets by ticker; on CoinGecko a ticker alone names many coins. */
const coinIds: Readonly<Record<string, string>> = Object.fromEntries(
  list
    .trim()
    .split(/\s{2,}/)
    .map((entry) => entry.split(' ') as [string, string]),
)
