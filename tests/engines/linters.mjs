// Linters of other people on our HTML: html-validate, and doiuse-email with the data of caniemail.com.
//
// Each has exceptions, every one with its reason. An exception that no document needs any more is a
// failure too, so that the lists stay true.
import { HtmlValidate, StaticConfigLoader } from 'html-validate'
import { doIUseEmail } from '@jsx-email/doiuse-email'

/** Rules of html-validate that mails have to break. */
const RULES = {
  'doctype-style': 'style: the parser reads both cases alike',
  'void-style': 'style: mails are cut up by programs that read XML',
  'no-conditional-comment': 'classic Outlook reads its tables from such comments',
  'no-inline-style': 'Gmail drops style sheets of mails that are forwarded or read with other accounts',
  'no-deprecated-attr': 'classic Outlook reads align, bgcolor, cellpadding and the like, and no CSS for them',
  'prefer-native-element': 'programs replace the elements of HTML 5, and keep role="article"',
  'presentation-role-style': 'older screen readers know presentation, not none',
  'long-title': 'the title is the subject, which lint `subject.long` judges',
  'attribute-allowed-values: Attribute "height" has invalid value "auto"': 'npm mjml writes it for pictures without a height, which lint `image.no_height` tells of',
}

/** Mail programs that are asked about, those of the default profile. */
const PROGRAMS = ['gmail.*', 'outlook.*', 'apple-mail.*']

/** What some program does not know, and why it is used all the same. */
const FEATURES = {
  '<body> element': 'the programs put a div in its place; colours stand on the div inside as well',
  '<wbr> element': 'only inside words of hundreds of letters; the others widen the mail',
  '@media': 'phones only: without it columns stand one below the other, or fit',
  'Attribute selector': 'dark mode of Outlook.com ([data-ogsc]), which others pass over',
  'Chaining selectors': 'dark mode and phones only',
  'Child combinator': 'dark mode and phones only',
  'Class selector': 'dark mode and phones only; what is needed is inline',
  'Descendant combinator': 'dark mode and phones only',
  'ID selector': 'a reset that Outlook.com needs',
  'Type selector': 'resets that only some programs need',
  'aria-label attribute': 'for screen readers; the others pass over it',
  'background attribute': 'a picture behind a section; a colour stands under it, and VML for Outlook',
  'background-position': 'a picture behind a section, as above',
  'background-repeat': 'a picture behind a section, as above',
  'background-size': 'a picture behind a section, as above',
  'border-radius': 'corners are square there',
  'border-spacing': 'of data tables, with cellspacing beside it',
  'display:none': 'the preview line, which also has no height, no width and no colour',
  float: 'columns; Outlook gets a table',
  opacity: 'the preview line, as above',
  outline: 'no line around pictures that are links',
  overflow: 'the preview line, as above',
  'role attribute': 'for screen readers; the others pass over it',
  'table-layout': 'tables of fixed width; widths stand in attributes as well',
  'target attribute': 'the programs open a window of their own anyway',
  'word-break': 'long words; widens the mail where it is not known',
  'word-spacing': 'a reset',
}

const validator = new HtmlValidate(new StaticConfigLoader({ root: true, extends: ['html-validate:recommended'] }))

/** Names under which a message may be an exception. */
const names = ({ ruleId, message }) => [ruleId, `${ruleId}: ${message}`]

/** Judges documents `{ id, code }`; calls `judge(name, id, problem)` for each. */
export function lint(documents, judge) {
  const used = new Set()
  for (const { id, code } of documents) {
    const said = validator.validateStringSync(code).results.flatMap((result) => result.messages)
    said.flatMap(names).forEach((name) => used.add(name))
    const broken = said.filter((message) => !names(message).some((name) => name in RULES))
    judge('html-validate', id, broken.length ? [...new Set(broken.map((message) => names(message)[1]))].join('; ') : undefined)
    const { errors = [] } = doIUseEmail(code, { emailClients: PROGRAMS })
    const features = [...new Set(errors.map((error) => error.match(/^`(.+?)` is not supported/)?.[1] ?? error))]
    features.forEach((feature) => used.add(feature))
    const unknown = features.filter((feature) => !(feature in FEATURES))
    judge('doiuse-email', id, unknown.length ? `not supported by all programs: ${unknown.join(', ')}` : undefined)
  }
  for (const exception of [...Object.keys(RULES), ...Object.keys(FEATURES)]) {
    if (!used.has(exception)) judge('exceptions of linters', exception, 'no document needs it')
  }
}
