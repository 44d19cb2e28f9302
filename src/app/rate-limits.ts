import { createLimiter } from '../router/limiter.ts'
import type { RouterOptions } from '../router/router.ts'
import { openRates } from '../store/open-store.ts'
import { type Config, storePlace } from './config.ts'

type Admit = RouterOptions['admit']

/** Who may call how often, as the operator says. `failed` hears of it when gateways cannot count together. */
export async function openAdmission(
  config: Config,
  clock: () => number,
  onError: (fault: unknown) => void,
): Promise<{ readonly admit: Admit } & AsyncDisposable> {
  const alone = { async [Symbol.asyncDispose]() {} }
  if (config.DRAGOMAN_RATE_LIMIT === 'off') return { ...alone, admit: () => undefined }
  const { url } = storePlace(config)
  if (config.DRAGOMAN_RATE_LIMIT === 'on' || url === undefined)
    return { ...alone, admit: createLimiter(clock) }
  const rates = await openRates(url, onError)
  const admit = createLimiter(clock, { take: rates.take, onError })
  return { admit, [Symbol.asyncDispose]: () => rates[Symbol.asyncDispose]() }
}
