// The pages are the same from the Pandoc that built them and from Pandoc 3 (in
// WebAssembly), and the e-books hold what the pages hold. Environment: ROOT, the
// repository; PAGES, the folders that hold the built pages, separated by ':'.
'use strict';
const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { after, before, describe, it } = require('node:test');
const zlib = require('node:zlib');
const { open } = require('./browser.js');

const { ROOT } = process.env;
const [built, tests] = process.env.PAGES.split(':');
const theme = path.join(ROOT, 'lessons/theme');
const site = path.join(ROOT, 'tests/site');

const lessons = fs.readdirSync(built).filter((name) => name.endsWith('.lua'))
  .map((name) => path.basename(name, '.lua'));
const documents = [
  ...lessons.map((name) => ({
    page: path.join(built, `${name}.html`),
    source: path.join(built, `${name}.md`),
    index: path.join(built, `${name}.lua`),
    figures: [path.join(ROOT, 'lessons/figures'), path.join(built, 'figures')],
  })),
  {
    page: path.join(tests, 'sample.html'),
    source: path.join(site, 'sample.markdown'),
    index: path.join(site, 'sample.lua'),
    figures: [site],
  },
];

/** The page that Pandoc 3 makes, by the defaults that the build uses. */
async function render(pandoc, { source, index, figures }) {
  const files = {};
  for (const folder of [theme, ...figures]) {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      if (entry.isFile()) files[entry.name] = fs.readFileSync(path.join(folder, entry.name), 'utf8');
    }
  }
  files['lesson.md'] = fs.readFileSync(source, 'utf8');
  files['index.lua'] = fs.readFileSync(index, 'utf8');
  const defaults = JSON.parse(files['page.json'].replaceAll('${.}/', ''));
  Object.assign(defaults.metadata, { index: 'index.lua', figures: '.' });
  const result = await pandoc.convert({ ...defaults, 'input-files': ['lesson.md'] }, null, files);
  assert.equal(result.stderr, '');
  assert.ok(result.stdout.includes('</html>'), 'Pandoc 3 made no page');
  return result.stdout;
}

/** What a reader gets of a page, in the browser's own reading of it. */
const structure = (html) => {
  const main = new DOMParser().parseFromString(html, 'text/html').querySelector('main');
  const text = (e) => e.textContent.replaceAll(/\s+/g, ' ').trim();
  for (const e of main.querySelectorAll('semantics > :not(annotation)')) e.remove();
  const all = (selector, read) => [...main.querySelectorAll(selector)].map(read);
  return {
    headings: all('h1, h2, h3, h4', (e) => `${e.tagName} #${e.id} ${text(e)}`),
    captions: all('figcaption', text),
    links: all('a:not(pre a)', (e) => `${e.getAttribute('href')} ${text(e)}`),
    listings: all('pre', (e) => e.textContent),
    // Colour shows in ink alone: which token a space belongs to is each release's own.
    tokens: all('pre span[class]', (e) => `${e.className} ${e.textContent}`)
      .filter((token) => /^\S+ .*\S/s.test(token)),
    tables: all('tr', (e) => [...e.cells].map((c) => `${c.tagName} ${c.scope} ${text(c)}`)),
    formulas: all('annotation', text),
    pictures: all('svg', (e) => e.outerHTML),
    boxes: all('.box, details', (e) => `${e.className} ${text(e).slice(0, 80)}`),
    paragraphs: all('p, li, dt, dd', text),
    ids: all('[id]:not(.toc [id])', (e) => e.id),
    labels: all('[aria-label]', (e) => e.getAttribute('aria-label')),
  };
};

/** The files of a ZIP archive, by name. */
function unzip(bytes) {
  const files = new Map();
  let at = bytes.readUInt32LE(bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1') + 16);
  while (bytes.readUInt32LE(at) === 0x02014b50) {
    const [name, extra, comment] = [28, 30, 32].map((o) => bytes.readUInt16LE(at + o));
    const local = bytes.readUInt32LE(at + 42);
    const begin = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(begin, begin + bytes.readUInt32LE(at + 20));
    files.set(bytes.toString('utf8', at + 46, at + 46 + name),
      bytes.readUInt16LE(at + 10) === 8 ? zlib.inflateRawSync(data) : data);
    at += 46 + name + extra + comment;
  }
  return files;
}

let browser, page, pandoc;
before(async () => {
  pandoc = await import(require.resolve('pandoc-wasm'));
  browser = await open([]);
  page = await (await browser.newContext()).newPage();
});
after(async () => { await browser?.close(); });

describe('Pandoc 3', () => {
  for (const document of documents) {
    it(`makes the same ${path.basename(document.page)}`, async () => {
      const theirs = await render(pandoc, document);
      assert.doesNotMatch(theirs, /<!--/);
      const [old, next] = [await page.evaluate(structure, fs.readFileSync(document.page, 'utf8')),
        await page.evaluate(structure, theirs)];
      for (const part of Object.keys(old)) assert.deepEqual(next[part], old[part], part);
      assert.ok(old.headings.length > 2 && old.listings.length > 2);
    });
  }
});

describe('EPUB', () => {
  for (const name of lessons) {
    it(`of ${name} is well-formed and holds what the page holds`, async () => {
      const files = unzip(fs.readFileSync(path.join(built, `${name}.epub`)));
      assert.equal(files.get('mimetype').toString().trim(), 'application/epub+zip');
      const chapters = [...files].filter(([file]) => /\/text\/ch\d+\.xhtml$/.test(file))
        .map(([, bytes]) => bytes.toString('utf8'));
      for (const text of [...files].filter(([file]) => /\.xhtml$/.test(file)).map(([, b]) => b)) {
        assert.equal(await page.evaluate((xml) =>
          new DOMParser().parseFromString(xml, 'application/xhtml+xml')
            .querySelector('parsererror')?.textContent, text.toString('utf8')), undefined);
        assert.doesNotMatch(text.toString('utf8'), /<!--|var\(--/);
      }
      const content = `<main>${chapters.map((xml) => xml.replace(/^.*?<body[^>]*>|<\/body>.*$/gs, ''))
        .join('')}</main>`;
      const book = await page.evaluate(structure, content);
      const web = await page.evaluate(structure, fs.readFileSync(path.join(built, `${name}.html`), 'utf8'));
      assert.deepEqual(book.listings, web.listings);
      assert.deepEqual(book.captions, web.captions);
      assert.deepEqual(book.formulas, web.formulas);
      assert.deepEqual(book.tables, web.tables);
    });
  }
});

// A wrong lesson does not become a page: each mistake stops Pandoc, with the place.
describe('a mistake in a lesson', () => {
  const { mkdtempSync, rmSync, writeFileSync } = fs;
  const folder = mkdtempSync(path.join(require('node:os').tmpdir(), 'mistakes-'));
  after(() => rmSync(folder, { recursive: true }));
  const head = '---\ntitle: T\nlang: en\n---\n\n# A {#sec-a}\n\n';
  const mistakes = [
    ['a link to nothing', 'See [](#sec-b).\n',
      'lesson.md:8: nothing in this lesson has the id `sec-b`\n  See [](#sec-b).\n         ^'],
    ['an id taken twice', '# B {#sec-a}\n',
      'lesson.md:8: the id `sec-a` is taken\n  # B {#sec-a}\n       ^'],
    ['a level left out', '### C\n', 'lesson.md:8: a heading skips a level\n  ### C\n      ^'],
    ['raw HTML', 'A <b>word</b>.\n',
      'lesson.md:8: raw HTML; the theme takes Markdown only\n  A <b>word</b>.\n    ^'],
    ['a value at the beginning of a line',
      '<!-- pull: transcripts/p/m.md#a / b -->1<!-- end pull --> is.\n',
      'lesson.md:8: a line that begins with a pulled value, which Markdown takes for a ' +
      'block; move it behind a word\n  ' +
      '<!-- pull: transcripts/p/m.md#a / b -->1<!-- end pull --> is.\n  ^'],
    ['a pull without its end', 'A <!-- pull: transcripts/p/m.md#a / b -->1.\n',
      'lesson.md:8: a pull without its end\n  A <!-- pull: transcripts/p/m.md#a / b -->1.\n' +
      '               ^'],
    ['a region that does not exist', '<!-- pull: src/a.cu#b -->\n```cuda\n```\n<!-- end pull -->\n',
      'lesson.md:8: `src/a.cu#b` is not in `snippet index`; run `snippet list` for the ' +
      'regions that exist\n  <!-- pull: src/a.cu#b -->\n             ^'],
    ['a term without an entry', 'A [word]{.term}.\n',
      'lesson.md:8: the glossary has no `word`\n  A [word]{.term}.\n     ^'],
    ['a figure without a caption', '::: {#fig-a}\n![Alternative.](figures/sample.svg)\n:::\n',
      'lesson.md:8: no caption: it is the last paragraph of its block\n  ::: {#fig-a}\n       ^'],
    ['a drawing that does not exist', '::: {#fig-a}\n![Alternative.](figures/x.svg)\n\nC.\n:::\n',
      'lesson.md:9: no such drawing; the theme inlines SVG from lessons/figures\n' +
      '  ![Alternative.](figures/x.svg)\n                  ^'],
    ['a figure without an alternative', '::: {#fig-a}\n![](figures/sample.svg)\n\nC.\n:::\n',
      'lesson.md:9: an image without a text alternative\n  ![](figures/sample.svg)\n      ^'],
    ['a macro that MathML has not', 'A $\\nosuchmacro{x}$.\n', 'Could not convert TeX math'],
  ];
  for (const [what, markdown, expected] of mistakes) {
    it(`stops at ${what}`, () => {
      writeFileSync(path.join(folder, 'lesson.md'), head + markdown);
      let message;
      try {
        execFileSync('pandoc', ['lesson.md', `--defaults=${theme}/page.json`, '--output=out.html',
          `--metadata=figures=${site}`, `--metadata=index=${site}/sample.lua`],
        { cwd: folder, stdio: 'pipe', encoding: 'utf8' });
      } catch (error) {
        message = error.stderr;
      }
      assert.ok(message?.includes(expected), message ?? 'Pandoc was content');
      assert.ok(!fs.existsSync(path.join(folder, 'out.html')));
    });
  }
});
