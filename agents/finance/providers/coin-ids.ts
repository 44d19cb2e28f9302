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
export const coinIds: Readonly<Record<string, string>> = Object.fromEntries(
  list
    .trim()
    .split(/\s{2,}/)
    .map((entry) => entry.split(' ') as [string, string]),
)
