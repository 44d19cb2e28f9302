import { type Agent, defineAgent } from '../../schemas/action.ts'
import { testTag } from '../../schemas/names.ts'
import { getCurrentPrice } from './get-current-price.ts'
import { createPrices, type FinancePorts } from './prices.ts'

/** Agent `svc.utility.finance`: current prices of crypto assets, shares, currencies and indices. */
export function createFinance(ports: FinancePorts): Agent {
  return defineAgent({
    package_name: 'svc.utility.finance',
    name: 'Finance',
    description:
      'Gets current exchange rates of currencies and prices of cryptocurrencies, stocks (shares) and market indexes.',
    tags: [testTag],
    category: 'utilities',
    target: 'developer',
    actions: [getCurrentPrice(createPrices(ports), ports.clock)],
  })
}
