// npm mjml as a judge of the target `mjml` and of our HTML.
import mjml2html from 'mjml'
import { elements } from './markup.mjs'

/** Errors of npm mjml in strict mode, and where its HTML differs from ours. */
export async function against(code, ours) {
  let made
  try {
    made = await mjml2html(code, { validationLevel: 'strict', minify: false, beautify: false })
  } catch (error) {
    return { errors: String(error.message ?? error).slice(0, 300) }
  }
  const errors = made.errors.length ? made.errors.map((one) => one.formattedMessage ?? String(one)).join('; ') : undefined
  if (ours === undefined) return { errors }
  const [one, two] = [elements(made.html), elements(ours)]
  const at = two.findIndex((element, index) => element !== one[index])
  const where = at < 0 && one.length > two.length ? two.length : at
  const difference = where < 0 ? undefined : `element ${where}: ${two[where]} instead of ${one[where]}`
  return { errors, difference }
}
