import { sameOriginOnly } from '@ratatosk/http'
import type { FastifyInstance } from 'fastify'

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Ratatosk node</title>
<h1>Ratatosk node</h1>
<p>This is the HTTP API of an optimistic rollup on Cardano. It has no user interface.</p>
<ul>
<li><a href="/health/ready">/health/ready</a> says whether the node is ready.</li>
<li><a href="https://github.com/ratatosk-l2/ratatosk#readme">The README</a> documents the endpoints.</li>
</ul>
</html>
`

/** Describes the node to a browser that opens `/`. API clients get the 404 of every unknown path. */
export function landingPage(server: FastifyInstance): void {
  server.get('/', { exposeHeadRoute: false, config: sameOriginOnly }, (request, reply) => {
    if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.callNotFound()
    return reply
      .type('text/html; charset=utf-8')
      .header('vary', 'accept')
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
      .send(page)
  })
}
