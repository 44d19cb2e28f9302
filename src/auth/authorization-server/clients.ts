/** The client id of the command line, which signs in by a device code. */
export const commandLineClient = 'dragoman-cli'

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
/** The grants by which clients act for people. */
export const grantsOfPeople: ReadonlySet<string> = new Set([
  'authorization_code',
  'refresh_token',
  deviceGrant,
])

/** Clients that need no registration. */
export const ownClients = [
  {
    client_id: commandLineClient,
    client_name: 'Dragoman command line',
    grant_types: [deviceGrant, 'refresh_token'],
    redirect_uris: [],
    response_types: [],
  },
]
