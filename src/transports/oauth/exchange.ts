import type { ServerResponse } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import type { AuthorizationServer } from '../../auth/authorization-server/authorization-server.ts'
import type { Page } from '../../auth/authorization-server/pages.ts'
import { isLoopbackUrl } from '../../common/loopback.ts'
import { readFormBody } from '../http/body.ts'
import type { ReadRequest } from '../http/input.ts'
import type { Forms } from '../shared/forms.ts'

/** A request of a browser, and its answer. */
export interface Exchange {
  readonly request: ReadRequest
  readonly response: ServerResponse
}

/** Answers with a page, or with the address to go on at. */
export type Answer = (exchange: Exchange) => Promise<Page | { readonly location: string }>

/** What the pages of sign-in share. */
export interface SignInPort {
  readonly server: AuthorizationServer
  readonly forms: Forms
}

/** The fields of a form of this browser and session. Throws Failure `forbidden` for a forged one. */
export async function readForm(
  { server, forms }: SignInPort,
  { request }: Exchange,
): Promise<URLSearchParams> {
  const form = new URLSearchParams((await readFormBody(request)).toString('utf8'))
  forms.check(request, form, (await server.browsers.of(request)).session)
  return form
}

export function paramOf({ request }: Exchange, name: string): string {
  return String(request.params[name] ?? '')
}

/** True if only people at the machine of the gateway reach it. */
export function isLoopback({ issuer }: Pick<AuthorizationServer, 'issuer'>): boolean {
  return isLoopbackUrl(new URL(issuer()))
}

export function nothingWaits(): Failure {
  return new Failure('not_found', 'No application waits for this browser here, or it waited too long.', {
    hint: 'Start again in the application.',
  })
}
