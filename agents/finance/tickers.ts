/** Crypto assets known by their bare ticker. A ticker that mostly means a share (T, W, S …) is left out. */
export const cryptoTickers: ReadonlySet<string> = new Set(
  `BTC ETH USDT XRP BNB SOL USDC DOGE TRX ADA HYPE LINK XLM SUI BCH AVAX HBAR LEO LTC TON SHIB DOT XMR WLFI DAI
  UNI AAVE PEPE ENA NEAR TAO OKB CRO APT ONDO ETC ICP POL KAS ARB ATOM VET RENDER FIL ALGO SEI BONK JUP FET WLD
  INJ TIA STX IMX GRT FLR LDO OP QNT XTZ CRV FLOKI PYTH KAIA IOTA ENS RAY SAND THETA MANA GALA PENDLE WIF ZEC
  DASH EOS XDC JASMY PAXG XAUT AXS CHZ COMP DYDX EGLD FLOW GMX KAVA KSM MINA MKR NEO ROSE RUNE SNX SUSHI YFI ZRX
  BAT CELO ENJ ANKR LRC STORJ TUSD PYUSD FDUSD WBTC STETH CBETH MATIC TRUMP PENGU SPX STRK ZRO BLUR APE MASK ZK
  EIGEN AR HNT KNC SKL ZEN ICX QTUM WAVES DCR`
    .trim()
    .split(/\s+/),
)

/** The tickers above that also name a share or a fund on an American exchange. */
export const sharedTickers: ReadonlySet<string> = new Set(
  `APE APT AR ARB ATOM AXS BCH BTC COMP DASH EOS ETH FET FLOW GRT LINK LTC NEAR OP SAND SEI SKL SNX SOL SPX STRK
  STX SUI TRX UNI`
    .trim()
    .split(/\s+/),
)

/** Currencies of states (ISO 4217) that a source may support. */
export const currencies: ReadonlySet<string> = new Set(
  `AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KRW KWD MAD MXN MYR NGN
  NOK NZD PEN PHP PKR PLN QAR RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR`
    .trim()
    .split(/\s+/),
)

/** Currencies in which a crypto asset may be priced. */
export const quotes: ReadonlySet<string> = new Set('USD EUR GBP JPY CHF CAD AUD USDT USDC BTC ETH'.split(' '))
