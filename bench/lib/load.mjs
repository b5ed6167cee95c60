// A closed loop of keep-alive connections that submit transactions to a node, each one once. HTTP by hand:
// whatever the load takes from the machine is missing to the node.
import { once } from 'node:events'
import { connect } from 'node:net'

const endOfHead = '\r\n\r\n'

/** One connection; a request at a time. */
async function openConnection({ hostname, port, host }) {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  let received = ''
  let waiting
  const fail = (error) => waiting?.reject(error)
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the node has closed a connection')))
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
    const end = received.indexOf(endOfHead)
    if (end < 0) return
    const length = Number(/content-length: *(\d+)/i.exec(received)?.[1] ?? 0)
    if (received.length < end + endOfHead.length + length) return
    const answer = received
    received = ''
    waiting.resolve(answer)
  })
  return {
    submit(cbor) {
      const body = cbor.toString('hex')
      const answered = new Promise((resolve, reject) => {
        waiting = { resolve, reject }
      })
      socket.write(
        `POST /submit HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\ncontent-length: ` +
          `${body.length}\r\n\r\n${body}`,
      )
      return answered
    },
    close: () => socket.destroy(),
  }
}

const now = () => performance.timeOrigin + performance.now()

/**
 * Submits for some seconds, or until there are no more transactions.
 *
 * @param {object} options
 * @param {string[]} options.urls of the processes that take submissions; each gets as many of the connections
 * @param {{ length: number, at(place: number): Buffer }} options.transactions an array, or what makes them
 *   when they are sent
 * @param {number} options.seconds
 * @param {number} options.rate submissions a second at most
 * @param {() => Promise<number>} options.accepted how many of them validation has accepted
 * @param {number} options.ahead how many may be submitted and not accepted: more would only wait in the queue
 * @param {number} options.connections
 * @returns {Promise<{ sentAt: Float64Array, answerMs: number[] }>} when each was sent, in POSIX milliseconds,
 *   and how long each answer took
 */
export async function load({ urls, transactions, seconds, rate, accepted, ahead, connections }) {
  const sentAt = new Float64Array(transactions.length)
  const answerMs = []
  const opened = await Promise.all(
    Array.from({ length: connections }, (_, n) => openConnection(new URL(urls[n % urls.length]))),
  )
  const begun = now()
  let sent = 0
  let known = 0
  let over = false
  let failure

  async function watch() {
    try {
      while (!over) {
        known = await accepted()
        await pause(50)
      }
    } catch (error) {
      failure = error
      over = true
    }
  }

  const mayGoOn = () => sent < transactions.length && now() - begun < seconds * 1000 && !over
  const isAhead = () => sent - known >= ahead || sent >= ((now() - begun) * rate) / 1000

  async function submitAll(connection) {
    while (mayGoOn()) {
      if (isAhead()) {
        await pause(5)
        continue
      }
      const place = sent++
      const started = now()
      sentAt[place] = started
      const answer = await connection.submit(transactions.at(place))
      if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`a submission was not taken: ${answer}`)
      answerMs.push(now() - started)
    }
  }

  const watching = watch()
  try {
    await Promise.all(opened.map(submitAll))
  } finally {
    over = true
    await watching
    for (const connection of opened) connection.close()
  }
  if (failure !== undefined) throw failure
  return { sentAt: sentAt.subarray(0, sent), answerMs }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
