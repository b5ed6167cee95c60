import { setTimeout as sleep } from 'node:timers/promises'

type Request = (n: number) => Promise<{ readonly status: number; readonly body: string }>

/** Sends requests at a rate until it is stopped; every answer must be a 200. */
export function steadily(perSecond: number, request: Request) {
  const failures: string[] = []
  const open = new Set<Promise<void>>()
  const begun = performance.now()
  let sent = 0
  let slowestMs = 0
  let isOver = false

  async function send(n: number): Promise<void> {
    const asked = performance.now()
    try {
      const { status, body } = await request(n)
      if (status !== 200) failures.push(`${n}: ${status} ${body}`)
    } catch (error) {
      failures.push(`${n}: ${error}`)
    }
    slowestMs = Math.max(slowestMs, performance.now() - asked)
  }

  const running = (async () => {
    while (!isOver) {
      await sleep(Math.max(1, begun + (sent * 1000) / perSecond - performance.now()))
      for (const due = ((performance.now() - begun) * perSecond) / 1000; sent < due && !isOver; ) {
        const answered: Promise<void> = send(sent++).then(() => void open.delete(answered))
        open.add(answered)
      }
    }
  })()
  return {
    failures,
    sent: () => sent,
    /** Waits for what was sent. @returns what the machine has carried, to compare with the wanted rate */
    async stop() {
      isOver = true
      await running
      await Promise.all(open)
      return { sent, perSecond: (sent * 1000) / (performance.now() - begun), slowestMs }
    },
  }
}
