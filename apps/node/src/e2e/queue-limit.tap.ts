import { ask } from '@ratatosk/test-kit/http'
import t from 'tap'
import { onServices } from '../test/backends.js'
import { runNode, submit } from '../test/node.js'

// A machine that runs many tests at once is slow.
t.setTimeout(300_000)

const services = await onServices()

t.test(
  'refuses transactions with Retry-After while the queue is full',
  { skip: services.skip },
  async (t) => {
    const { url } = await runNode(t, {
      ...(await services.place(t)),
      NODE_ROLE: 'api',
      QUEUE_MAX_WAITING: '2',
    })
    for (const transaction of ['80', '8100']) t.equal((await submit(url, transaction)).status, 200)
    const refused = await submit(url, '820000')
    t.match(refused, { status: 500, body: '{"error":"Failed to enqueue transaction"}' })
    t.equal(refused.headers['retry-after'], '1')
    t.equal((await ask(`${url}/health/live`)).status, 200)
  },
)
