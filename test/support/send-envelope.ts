/** Sends an envelope to a gateway; returns `ok`, or the code of the refusal. */
export async function sendEnvelope(url: string, token: string, to: string): Promise<string> {
  const answer = await fetch(`${url}/a2a/message`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ to, action: 'anything', params: {} }),
  })
  const { code = 'ok' } = (await answer.json()) as { code?: string }
  return code
}
