import { type Agent, type IncomingHttpHeaders, request } from 'node:http'

/** A response to {@link ask}. */
export interface Answer {
  readonly status: number
  /** Without `date`. */
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A request for {@link ask}. */
export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Keeps connections open. By default, the request has a connection of its own. */
  readonly agent?: Agent
}

/** Sends one request. */
export function ask(
  url: string,
  { method = 'GET', headers = {}, body, agent }: Question = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: agent ?? false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const { date: _date, ...rest } = response.headers
        resolve({ status: response.statusCode ?? 0, headers: rest, body: text })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** The part of a Fastify server that {@link listening} uses. */
export interface Listens {
  listen(options: { host: string; port: number }): Promise<string>
}

/** Makes a server listen on a free loopback port; `get` and `head` send requests to it. */
export async function listening(server: Listens) {
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    port: Number(new URL(url).port),
    get: (path: string, headers: Record<string, string> = {}) => ask(url + path, { headers }),
    head: (path: string) => ask(url + path, { method: 'HEAD' }),
  }
}
