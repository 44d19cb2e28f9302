import { changeSignedIn, signedInPath } from '../../src/app/signed-in.ts'
import { awaitDecision, findIssuer, requestDevice } from '../../src/cli/sign-in/device.ts'
import { Browser } from './browser.ts'
import type { TestGateway } from './gateway.ts'
import { signIn } from './sign-in.ts'

/** Decides in a browser about the device that shows a code. */
export async function decide(
  { url }: Pick<TestGateway, 'url'>,
  address: string,
  decision: 'allow' | 'deny',
): Promise<void> {
  const browser = new Browser(url)
  let page = await browser.open(address)
  for (let steps = 0; steps < 5 && page.forms.length + page.links.length > 0; steps++) {
    if (page.links.some((href) => href.includes('/with/'))) page = await signIn(browser, page)
    else if (page.text.includes('decision')) {
      await browser.submit(page, { decision })
      return
    } else page = await browser.submit(page)
  }
  throw new Error(`The page asks for no decision: ${page.text}`)
}

/** Signs the command line in without waiting; `config` is the folder of the configuration of its user. */
export async function signInCommandLine(home: TestGateway, config: string): Promise<void> {
  const issuer = await findIssuer(home.url)
  const device = await requestDevice(issuer)
  await decide(home, String(device.verification_uri_complete), 'allow')
  const session = await awaitDecision(issuer, device, async () => {})
  const signedIn = { current: home.url, gateways: { [home.url]: session } }
  await changeSignedIn(signedInPath({ config }), async () => [signedIn, undefined])
}
