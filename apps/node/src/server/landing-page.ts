import { sameOriginOnly } from '@ratatosk/http'
import type { FastifyInstance } from 'fastify'

/** The pages for a browser, if this node serves them. */
const links = [
  ['/docs', 'all endpoints, with examples'],
  ['/openapi.json', 'the same for programs'],
  ['/health/ready', 'whether the node is ready'],
  ['/network', 'the network and its parameters'],
  ['/stateQueue', 'the blocks that wait on layer 1'],
  ['/l2/blockfrost/api/v0/blocks/latest', 'layer 2 by the API of Blockfrost, under /l2/blockfrost/api/v0'],
  ['/l2/kupo/health', 'layer 2 by the API of Kupo, under /l2/kupo'],
  ['/l2/ogmios/health', 'layer 2 by the API of Ogmios, under /l2/ogmios'],
] as const

function pageOf(server: FastifyInstance): string {
  const served = links.filter(([url]) => server.hasRoute({ method: 'GET', url }))
  const items = served.map(([url, text]) => `<li><a href="${url}">${url}</a>: ${text}</li>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Ratatosk node</title>
<h1>Ratatosk node</h1>
<p>This is the HTTP API of an optimistic rollup on Cardano.
<a href="https://github.com/ratatosk-l2/ratatosk#readme">The README</a> explains it.</p>
<ul>
${items.join('\n')}
</ul>
</html>
`
}

/** Shows a browser at `/` the console, or a list of services. API clients get the 404 of unknown paths. */
export function landingPage(server: FastifyInstance): void {
  let page = ''
  let hasConsole = false
  server.addHook('onReady', (done) => {
    hasConsole = server.hasRoute({ method: 'GET', url: '/console' })
    page = pageOf(server)
    done()
  })
  server.get('/', { exposeHeadRoute: false, config: sameOriginOnly }, (request, reply) => {
    if (!/\btext\/html\b/i.test(request.headers.accept ?? '')) return reply.callNotFound()
    // Relative, because a proxy may serve the node under a path.
    if (hasConsole) return reply.header('vary', 'accept').redirect('console')
    return reply
      .type('text/html; charset=utf-8')
      .header('vary', 'accept')
      .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
      .send(page)
  })
}
