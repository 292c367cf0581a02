// Pictures of our HTML in Chromium beside those of what npm mjml makes of the same document.
//
//     node pictures.mjs CASES.json
//
// Nothing is fetched: every picture that a page asks for is one grey square. Without Chromium nothing
// is compared, which is told and is no failure.
import fs from 'node:fs'
import path from 'node:path'
import mjml2html from 'mjml'
import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'
import { chromium } from 'playwright-core'

const PROGRAMS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Widths of windows: a mail program on a desk, a phone. */
const WIDTHS = [600, 375]
/** Share of points that may differ. */
const TOLERANCE = 0.001
/** Height of a picture past which nothing is compared. */
const HEIGHT = 6000

const program = PROGRAMS.find((file) => file && fs.existsSync(file))
if (!program) {
  console.log('no Chromium here: pictures are not compared (package chromium)')
  process.exit(0)
}
const out = path.join(path.dirname(path.resolve(process.argv[2])), 'pictures')
fs.mkdirSync(out, { recursive: true })
const cases = JSON.parse(fs.readFileSync(process.argv[2], 'utf8')).filter(
  (one) => one.dialect === 'none' && one.variant === 'sample' && !/^(generated|hostile \d)/.test(one.document),
)

const square = new PNG({ width: 1, height: 1 })
square.data.set([160, 160, 160, 255])
const grey = PNG.sync.write(square)

const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'] })
const page = await browser.newPage()
await page.route('**/*', (route) =>
  route.request().resourceType() === 'image' ? route.fulfill({ contentType: 'image/png', body: grey }) : route.abort(),
)

/** The page's picture, and how much wider than the window it is. */
async function shot(html, width, colorScheme) {
  await page.setViewportSize({ width, height: 800 })
  await page.emulateMedia({ colorScheme })
  await page.setContent(html, { waitUntil: 'load' })
  const { wider, height } = await page.evaluate(() => ({
    wider: document.documentElement.scrollWidth - window.innerWidth,
    height: document.documentElement.scrollHeight,
  }))
  const clip = { x: 0, y: 0, width, height: Math.min(height, HEIGHT) }
  return { wider, picture: PNG.sync.read(await page.screenshot({ clip, fullPage: true })) }
}

/** What differs between two pictures, or nothing; what does is written into a file. */
function difference(one, two, name) {
  if (one.height !== two.height) return `${one.height} px high instead of ${two.height}`
  const marked = new PNG({ width: one.width, height: one.height })
  const count = pixelmatch(one.data, two.data, marked.data, one.width, one.height, { threshold: 0.05 })
  const share = count / (one.width * one.height)
  if (share <= TOLERANCE) return undefined
  const file = path.join(out, `${name.replaceAll(' ', '-')}.png`)
  fs.writeFileSync(file, PNG.sync.write(marked))
  return `${(share * 100).toFixed(2)} % of the picture differs, see ${file}`
}

const failures = []
let compared = 0
const judge = (name, problem) => {
  compared += 1
  if (problem) failures.push(`${name}: ${problem}`)
}
for (const ours of cases.filter((one) => one.target === 'html')) {
  const code = cases.find((one) => one.target === 'mjml' && one.document === ours.document).code
  const { html } = await mjml2html(code, { validationLevel: 'skip', minify: false, beautify: false })
  for (const width of WIDTHS) {
    const light = await shot(ours.code, width, 'light')
    judge(`${ours.document} at ${width} px`, light.wider > 0 ? `${light.wider} px wider than the window` : undefined)
    const theirs = await shot(html, width, 'light')
    judge(`${ours.document} at ${width} px`, difference(light.picture, theirs.picture, `${ours.document} ${width}`))
  }
  // Yahoo drops media queries in dark mode: a mail has to be usable with none at all.
  const bare = await shot(ours.code.replace(/<style[\s\S]*?<\/style>/g, ''), 375, 'light')
  judge(`${ours.document} without style sheets`, bare.wider > 0 ? `${bare.wider} px wider than a phone` : undefined)
  const dark = [await shot(ours.code, 600, 'dark'), await shot(html, 600, 'dark')]
  judge(`${ours.document} in dark mode`, difference(dark[0].picture, dark[1].picture, `${ours.document} dark`))
}
await browser.close()
for (const failure of failures) console.error(failure)
console.log(`${compared - failures.length} pictures passed, ${failures.length} failed`)
process.exit(failures.length ? 1 : 0)
