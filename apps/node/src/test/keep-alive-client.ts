import { Agent, request } from 'node:http'
import type { Test } from 'tap'

/** Asks one node many things over few connections. */
export interface KeepAliveClient {
  get(path: string): Promise<{ status: number; body: string }>
  /** Posts a transaction; returns the submission's id, and fails where the answer is not 200. */
  submit(cborHex: string): Promise<string>
}

export function keepAliveClient(t: Test, url: string, connections = 16): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  t.teardown(() => agent.destroy())

  function exchange(method: string, path: string, body?: string): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'text/plain' }
      const outgoing = request(`${url}${path}`, { method, agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  return {
    get: (path) => exchange('GET', path),
    async submit(cborHex) {
      const { status, body } = await exchange('POST', '/submit', cborHex)
      if (status !== 200) throw new Error(`/submit answered ${status}: ${body}`)
      return JSON.parse(body).id
    },
  }
}
