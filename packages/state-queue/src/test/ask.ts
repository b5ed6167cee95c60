import { type IncomingHttpHeaders, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Asks a listening server, over a connection of its own. */
export function ask(
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const { date: _date, ...rest } = response.headers
        resolve({ status: response.statusCode ?? 0, headers: rest, body })
      })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}
