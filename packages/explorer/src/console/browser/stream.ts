import { AnswerError } from './api.js'

/** The fields between two blank lines of an event stream; an absent field is empty. */
export interface StreamMessage {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** After so long without anything, the node is too slow. It sends a heartbeat after 15 s of silence. */
const quietMs = 20_000

/** A dot and `$` take U+2028, which JSON may have, for the end of a line. */
const fieldOf = (name: string) => new RegExp(`(?:^|\\n)${name}: ?([^\\n]*)`)
const fields = { id: fieldOf('id'), event: fieldOf('event'), data: fieldOf('data') }

/** Of seconds. Servers may also send a date, which clocks that differ make useless. */
function retryAfterMs(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined
}

/**
 * Calls with each message of an event stream, until `take` is content (true), `signal` aborts, or nothing
 * comes for a while.
 * @throws {AnswerError} if the answer is no event stream, such as a proxy's page
 * @throws {TypeError} if the node cannot be reached
 */
export async function readStream(
  path: string,
  take: (message: StreamMessage) => boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  const end = new AbortController()
  signal?.addEventListener('abort', () => end.abort(), { once: true })
  const expire = () => setTimeout(() => end.abort(), quietMs)
  let timer = expire()
  try {
    const answer = await fetch(path, { signal: end.signal })
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
    if (!answer.ok || !isStream || answer.body === null)
      throw new AnswerError(
        answer.status,
        `The node sends no events: status ${answer.status}`,
        retryAfterMs(answer.headers.get('retry-after')),
      )
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value = '' } = await reader.read()
      if (done) return false
      clearTimeout(timer)
      timer = expire()
      const parts = (rest + value).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const field = (name: keyof typeof fields) => fields[name].exec(part)?.[1] ?? ''
        if (take({ id: field('id'), event: field('event'), data: field('data') })) return true
      }
    }
  } catch (error) {
    if (!end.signal.aborted) throw error
    return false
  } finally {
    clearTimeout(timer)
    end.abort()
  }
}
