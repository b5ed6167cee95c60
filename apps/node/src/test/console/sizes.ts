import type { Test } from 'tap'

/** The most bytes of the first page, gzipped. */
const maxFirstPage = 60_000
/** The most bytes of all of them. */
const maxPages = 150_000

/** The pages are small, and their policy allows nothing foreign and nothing inline. */
export async function sizes(t: Test, { url }: { readonly url: string }): Promise<void> {
  const headers = { 'accept-encoding': 'gzip' }
  const lengthOf = async (path: string): Promise<{ length: number; text: string }> => {
    const answer = await fetch(`${url}${path}`, { headers, method: 'GET' })
    const tag = answer.headers.get('etag') ?? ''
    t.match(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'",
    )
    t.notMatch(answer.headers.get('content-security-policy'), 'unsafe')
    t.equal(answer.headers.get('content-encoding'), 'gzip')
    t.equal((await fetch(`${url}${path}`, { headers: { 'if-none-match': tag } })).status, 304)
    return { length: Number(answer.headers.get('content-length')), text: await answer.text() }
  }
  const first = await Promise.all(
    ['/console', '/console/console.js', '/console/console.css', '/console/icon.svg'].map(lengthOf),
  )
  t.equal((await fetch(`${url}/console/`)).url, `${url}/console`, 'a slash at the end leads to the page')
  const total = first.reduce((sum, { length }) => sum + length, 0)
  t.ok(total > 1_000 && total <= maxFirstPage, `${total} bytes at first`)
  const parts = new Set(first[1]?.text.match(/(?<=import\("\.)\/[\w-]+\.js/g))
  t.ok(parts.size > 0, 'proofs are a part of their own')
  const later = await Promise.all([...parts].map((part) => lengthOf(`/console${part}`)))
  const all = later.reduce((sum, { length }) => sum + length, total)
  t.ok(all <= maxPages, `${all} bytes in all`)
}
