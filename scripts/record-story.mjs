// Records the console: 5 ada from an empty directory to the confirmed state, as docs/console-story.webp.
// Needs Chromium (CHROMIUM, or /usr/bin/chromium) and ffmpeg with libwebp.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from './prepare.mjs'

const { chromium } = createRequire(join(root, 'apps/node/package.json'))('playwright-core')

/** The recording runs so many times faster, and has so many frames a second. */
const speed = 4
const framesPerSecond = 4
const size = { width: 1200, height: 720 }
const mergedWithinMs = 120_000
/** Milliseconds before the button is clicked, and after the last step. */
const pauseMs = 6_000

const folder = mkdtempSync(join(tmpdir(), 'ratatosk-story-'))
const node = spawn(process.execPath, [join(root, 'scripts/start.mjs')], {
  cwd: root,
  env: { ...process.env, PORT: '0', LOG_FORMAT: 'json', DATA_DIR: join(folder, 'data') },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  const page = await browser.newPage({ viewport: size, colorScheme: 'light' })
  const url = await addressOf(node)
  await page.goto(url)
  await page.waitForSelector('#balances')
  const stop = await record(page)
  await page.waitForTimeout(pauseMs)
  await page.click('#send')
  await page.waitForSelector('[data-step=merged].done', { timeout: mergedWithinMs })
  await page.waitForTimeout(pauseMs)
  const frames = await stop()
  await compareTimes(page, url)
  encode(frames)
} finally {
  await browser.close()
  node.kill('SIGTERM')
  await once(node, 'close')
  rmSync(folder, { recursive: true, force: true })
}

async function addressOf({ stdout }) {
  for await (const line of createInterface({ input: stdout })) {
    const { url } = JSON.parse(line)
    if (url !== undefined) {
      stdout.resume()
      return url
    }
  }
  throw new Error('The node has ended')
}

/** Records what changes on a page; `stop` returns the frames and when each was shown, in seconds. */
async function record(page) {
  const session = await page.context().newCDPSession(page)
  const frames = []
  session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    const file = join(folder, `${frames.length}.png`)
    writeFileSync(file, Buffer.from(data, 'base64'))
    frames.push({ file, at: metadata.timestamp })
    session.send('Page.screencastFrameAck', { sessionId })
  })
  await session.send('Page.startScreencast', { format: 'png' })
  return async () => {
    await session.send('Page.stopScreencast')
    return [...frames, { at: Date.now() / 1000 }]
  }
}

/** Every time on the page must be that of the store, as the node answers it. */
async function compareTimes(page, url) {
  const hash = page.url().slice(-64)
  const { acceptedAt, block } = await (await fetch(`${url}/explorer/tx/${hash}`)).json()
  for (const [step, at] of Object.entries({ accepted: acceptedAt, ...block.times })) {
    const shown = await page.getAttribute(`[data-step=${step}]`, 'data-at')
    if (shown !== at) throw new Error(`${step} is at ${at}, and the page shows ${shown}`)
    console.log(`${step} ${at}`)
  }
}

function encode(frames) {
  const list = join(folder, 'frames.txt')
  const entries = frames
    .slice(0, -1)
    .map(({ file, at }, n) => `file '${file}'\nduration ${((frames[n + 1].at - at) / speed).toFixed(3)}`)
  // ffmpeg shows the last picture only if it is listed again.
  writeFileSync(list, `${[...entries, `file '${frames.at(-2).file}'`].join('\n')}\n`)
  const codec = ['-c:v', 'libwebp_anim', '-lossless', '1', '-compression_level', '6', '-loop', '0']
  const input = ['-f', 'concat', '-safe', '0', '-i', list]
  const output = process.argv[2] ?? join(root, 'docs/console-story.webp')
  execFileSync('ffmpeg', [
    '-y',
    '-loglevel',
    'error',
    ...input,
    '-r',
    String(framesPerSecond),
    ...codec,
    output,
  ])
}
