const day = 86_400

/** In seconds. */
export const lifetimes = {
  AccessToken: 3600,
  AuthorizationCode: 60,
  DeviceCode: 600,
  Grant: 90 * day,
  Interaction: 1800,
  RefreshToken: 30 * day,
  Session: 7 * day,
} as const

/** How long a client stays registered that no person has allowed anything. */
export const unusedClientMilliseconds = day * 1000

/** A name with `__Host-` can be set by no other host, and needs https. */
export function cookieNames(secure: boolean) {
  const prefix = secure ? '__Host-' : ''
  return {
    session: `${prefix}dragoman-session`,
    login: `${prefix}dragoman-login`,
    connect: `${prefix}dragoman-connect`,
    form: `${prefix}dragoman-form`,
    back: `${prefix}dragoman-back`,
    interaction: 'dragoman-interaction',
    resume: 'dragoman-resume',
  }
}
