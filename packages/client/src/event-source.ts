/** A message of an event stream. */
export interface Message {
  /** Where the stream resumes after it; undefined if the stream has sent no id yet. */
  readonly id: string | undefined
  /** Undefined for a message without data, which only moves the id. */
  readonly data: string | undefined
  readonly event: string
  /** Milliseconds after which to reconnect, if the stream has said so. */
  readonly retryMs: number | undefined
}

/** Characters of one line, and of the data of one message, beyond which a stream is not one of events. */
const maxLength = 1_048_576

/**
 * The messages of a stream (HTML standard, "Server-sent events"), until it ends.
 * @throws RangeError if a line or a message is longer than 1,048,576 characters
 */
export async function* readMessages(stream: ReadableStream<Uint8Array>): AsyncGenerator<Message, void> {
  let id: string | undefined
  let retryMs: number | undefined
  let event = 'message'
  let data: string[] = []
  let length = 0
  for await (const line of readLines(stream)) {
    if (line === '') {
      yield { id, event, data: data.length > 0 ? data.join('\n') : undefined, retryMs }
      event = 'message'
      data = []
      length = 0
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'data') {
      length += value.length
      if (length > maxLength) throw new RangeError('An event is too long')
      data.push(value)
    } else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'retry' && /^[0-9]+$/.test(value)) retryMs = Number(value)
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      // A carriage return at the end may be half of a line break.
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      if (rest.length > maxLength) throw new RangeError('A line is too long')
      yield* lines
    }
  } finally {
    // Ends the connection if the reader stops early; the stream may have failed already.
    await reader.cancel().catch(() => undefined)
  }
}
