#include "attend/text/language_tokens.h"

#include <algorithm>

#include "attend/core/error.h"

namespace attend {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

constexpr std::string_view kMbartCodes =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP "
    "nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN";
constexpr std::string_view kMbart50Codes =  // after those of mBART
    " af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE "
    "ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";
constexpr std::string_view kM2m100Codes =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru "
    "sd "
    "si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr std::string_view kNllbCodes =
    "ace_Arab ace_Latn acm_Arab acq_Arab aeb_Arab afr_Latn ajp_Arab aka_Latn amh_Ethi apc_Arab arb_Arab ars_Arab "
    "ary_Arab arz_Arab asm_Beng ast_Latn awa_Deva ayr_Latn azb_Arab azj_Latn bak_Cyrl bam_Latn ban_Latn bel_Cyrl "
    "bem_Latn ben_Beng bho_Deva bjn_Arab bjn_Latn bod_Tibt bos_Latn bug_Latn bul_Cyrl cat_Latn ceb_Latn ces_Latn "
    "cjk_Latn ckb_Arab crh_Latn cym_Latn dan_Latn deu_Latn dik_Latn dyu_Latn dzo_Tibt ell_Grek eng_Latn epo_Latn "
    "est_Latn eus_Latn ewe_Latn fao_Latn pes_Arab fij_Latn fin_Latn fon_Latn fra_Latn fur_Latn fuv_Latn gla_Latn "
    "gle_Latn glg_Latn grn_Latn guj_Gujr hat_Latn hau_Latn heb_Hebr hin_Deva hne_Deva hrv_Latn hun_Latn hye_Armn "
    "ibo_Latn ilo_Latn ind_Latn isl_Latn ita_Latn jav_Latn jpn_Jpan kab_Latn kac_Latn kam_Latn kan_Knda kas_Arab "
    "kas_Deva kat_Geor knc_Arab knc_Latn kaz_Cyrl kbp_Latn kea_Latn khm_Khmr kik_Latn kin_Latn kir_Cyrl kmb_Latn "
    "kon_Latn kor_Hang kmr_Latn lao_Laoo lvs_Latn lij_Latn lim_Latn lin_Latn lit_Latn lmo_Latn ltg_Latn ltz_Latn "
    "lua_Latn lug_Latn luo_Latn lus_Latn mag_Deva mai_Deva mal_Mlym mar_Deva min_Latn mkd_Cyrl plt_Latn mlt_Latn "
    "mni_Beng khk_Cyrl mos_Latn mri_Latn zsm_Latn mya_Mymr nld_Latn nno_Latn nob_Latn npi_Deva nso_Latn nus_Latn "
    "nya_Latn oci_Latn gaz_Latn ory_Orya pag_Latn pan_Guru pap_Latn pol_Latn por_Latn prs_Arab pbt_Arab quy_Latn "
    "ron_Latn run_Latn rus_Cyrl sag_Latn san_Deva sat_Beng scn_Latn shn_Mymr sin_Sinh slk_Latn slv_Latn smo_Latn "
    "sna_Latn snd_Arab som_Latn sot_Latn spa_Latn als_Latn srd_Latn srp_Cyrl ssw_Latn sun_Latn swe_Latn swh_Latn "
    "szl_Latn tam_Taml tat_Cyrl tel_Telu tgk_Cyrl tgl_Latn tha_Thai tir_Ethi taq_Latn taq_Tfng tpi_Latn tsn_Latn "
    "tso_Latn tuk_Latn tum_Latn tur_Latn twi_Latn tzm_Tfng uig_Arab ukr_Cyrl umb_Latn urd_Arab uzn_Latn vec_Latn "
    "vie_Latn war_Latn wol_Latn xho_Latn ydd_Hebr yor_Latn yue_Hant zho_Hans zho_Hant zul_Latn";
constexpr std::string_view kWmt21Codes = "en ha is ja cs ru zh de";

constexpr std::string_view kM2m100 = "M2M100", kMarks = "__";

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
char folded(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c == '-' ? '_' : c; }

/// Two or three small letters, "_", and a country ("XX") or a script ("Latn").
bool has_form_of_code(std::string_view text) {
  const std::size_t mark = text.find('_');
  if ((mark != 2 && mark != 3) || !std::ranges::all_of(text.substr(0, mark), is_lower)) return false;
  const std::string_view rest = text.substr(mark + 1);
  return (rest.size() == 2 && std::ranges::all_of(rest, is_upper)) ||
         (rest.size() == 4 && is_upper(rest[0]) && std::ranges::all_of(rest.substr(1), is_lower));
}

}  // namespace

const LanguageTokens::Language* LanguageTokens::match(std::string_view code) const {
  std::string asked(code);
  std::ranges::transform(asked, asked.begin(), folded);
  std::vector<const Language*> similar;
  for (const Language& one : all) {
    std::string own = one.code;
    std::ranges::transform(own, own.begin(), folded);
    if (own == asked) return &one;
    if (own.starts_with(asked + "_")) similar.push_back(&one);
  }
  return similar.size() == 1 ? similar.front() : nullptr;
}

const LanguageTokens::Language& LanguageTokens::find(std::string_view code, std::string_view what) const {
  if (const Language* found = match(code)) return *found;
  fail<InputError>("translator", "the model does not know the ", what, " language \"", code, "\", expected one of ",
                   codes());
}

std::string LanguageTokens::codes() const {
  std::vector<std::string> sorted;
  for (const Language& one : all) sorted.push_back(one.code);
  std::ranges::sort(sorted);
  std::string text;
  for (const std::string& one : sorted) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string LanguageScheme::token(std::string_view code) const {
  const std::string_view marks = family == kM2m100 ? kMarks : "";
  return std::string(marks) + std::string(code) + std::string(marks);
}

std::optional<std::string> LanguageScheme::code(std::string_view token) const {
  if (family != kM2m100) return has_form_of_code(token) ? std::optional(std::string(token)) : std::nullopt;
  if (token.size() <= 2 * kMarks.size() || !token.starts_with(kMarks) || !token.ends_with(kMarks)) return {};
  return std::string(token.substr(kMarks.size(), token.size() - 2 * kMarks.size()));
}

const LanguageScheme* language_scheme(std::string_view family, std::string_view codes) {
  static const LanguageScheme kWmt21 = {kM2m100, "en", words_of(kWmt21Codes)};
  static const LanguageScheme kSchemes[] = {
      {kM2m100, "en", words_of(kM2m100Codes)},
      {"MBart", "en_XX", words_of(kMbartCodes), true, true},
      {"MBart50", "en_XX", words_of(std::string(kMbartCodes) + std::string(kMbart50Codes))},
      {"Nllb", "eng_Latn", words_of(kNllbCodes)},
  };
  if (family == kM2m100 && codes == "wmt21") return &kWmt21;
  const auto* found = std::ranges::find(kSchemes, family, &LanguageScheme::family);
  return found == std::end(kSchemes) ? nullptr : found;
}

}  // namespace attend
