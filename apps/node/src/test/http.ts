import { request } from 'node:http'

export interface Answer {
  readonly status: number
  /** Names and values as they were sent, without `Date`. */
  readonly headers: readonly string[]
  readonly body: string
}

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Asks a node, and leaves nothing of the answer out. */
export function ask(url: string, { method = 'GET', headers = {}, body }: Question = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const pairs = response.rawHeaders.flatMap((name, index, all) =>
          index % 2 === 0 && name.toLowerCase() !== 'date' ? [`${name}: ${all[index + 1]}`] : [],
        )
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: pairs, body: text })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Posts a transaction as a client does. */
export function submit(url: string, body: string | Buffer): Promise<Answer> {
  return ask(`${url}/submit`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body })
}
